"""Reward functions against each other and against the template.

Relates: the patterns that reward functions match, text looked for inside text, the system prompt and the chat template.
Why: a format reward that asks for tags nobody asked the model to write stays at 0. A template that already opens ``<think>`` leaves the
    answer without it, so a pattern anchored at ``<think>`` never matches. ``answer in response`` pays for listing every alternative.
Confirmed by: a part of the reward that is 0 on every row; best rewarded samples that name several answers.
Source: open-r1 issues 235 and 255; Visual-RFT issues 79 and 176.
"""

import re

from rl_advisor.finding import Answer, absent, not_logged, present, unclear
from rl_advisor.settings.given import Settings
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
TAGS = ("<think>", "<answer>", "<reasoning>", "<solution>")


def check(s: Settings) -> Answer:
    """A fault where a pattern asks for tags that prompt and template show not to come; notes for what invites a hack."""
    patterns = [str(p) for p in s.config.get("script.rewards.patterns") or ()]
    inside = [str(p) for p in s.config.get("script.rewards.contains") or ()]
    prompt, template = s.words("system_prompt"), s.words("chat_template")
    keys = s.keys("reward_functions", "reward_weights", "system_prompt", "chat_template") + tuple(
        k for k in s.config if k.startswith("script.rewards")
    )
    wanted = {tag for p in patterns for tag in TAGS if tag in p}
    if any(re.search(r": ?\^?<think>", p) for p in patterns) and "<think>" in template[-40:]:
        text = "The chat template already opens <think>, so no answer starts with it, and the pattern that asks for it never matches."
        return present(text, about=keys, do="Put the opening tag back before matching, or drop it from the pattern.")
    missing = sorted(tag for tag in wanted if prompt and tag not in prompt)
    if missing:
        return present(
            f"A reward function matches {', '.join(missing)}, and the system prompt never asks for it.",
            about=keys,
            do="Ask for the format in the prompt.",
        )
    if inside:
        text = f"{', '.join(inside[:3])} looks whether one text stands inside another: an answer that lists several alternatives is paid."
        return unclear(text, about=keys, do="Compare the extracted answer as a whole, and read the ten best rewarded samples.")
    names = s.words("reward_functions")
    if "format" in names and ("accuracy" in names or "correct" in names):
        text = "Accuracy and format are paid side by side: format is learned first, and alone where accuracy is out of reach."
        return unclear(text, about=keys)
    return absent("Nothing in the reward functions contradicts the template.", about=keys) if keys else not_logged("")
