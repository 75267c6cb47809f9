"""Every row of the field guide's tables of failures is a detector, or is said to be out of sight: none is silently left out."""

import pytest
from rl_advisor.detectors import patterns
from rl_advisor.judgement.narrative import LINES

LANGUAGE = {
    "L1": "drift_without_gain kl_and_outcome", "L2": "destructive_drift", "L3": "over_optimisation",
    "L4": "train_eval_gap reward_shortcut format_hacking verifier_attack", "L5": "length_inflation", "L6": "length_collapse",
    "L7": "truncation", "L8": "entropy_collapse", "L9": "entropy_explosion", "L10": "zero_variance_groups", "L11": "reward_never_paid",
    "L12": "engine_mismatch", "L13": "bursty_clipping", "L14": "stale_data importance_weight", "L15": "update_too_large",
    "L16": "kl_estimator_artefact", "L18": "echo_trap", "L19": "template_collapse", "L20": "reward_jump", "L21": "reward_outliers",
    "L22": "critic_failure", "L23": "certain_start one_answer_a_prompt", "L24": "narrowing", "L25": "eval_protocol_change",
    "L26": "prompt_shift memorised_data", "L27": "wrong_from_start", "L28": "resume_discontinuity",
    "L29": "frozen_policy", "L30": "tone_drift", "L31": "tool_hacking pseudo_success", "L32": "forgetting", "L33": "episode_errors",
    "L34": "gradient_spikes non_finite", "L35": "noise_dominated",
}  # fmt: skip
CONTROL = {
    "C1": "reward_sign reward_jump", "C2": "eval_below_train", "C3": "action_noise_gone", "C4": "episode_cap", "C6": "no_exploration",
    "C7": "entropy_collapse action_noise_gone", "C8": "update_too_large", "C9": "critic_failure", "C10": "value_divergence",
    "C11": "temperature_runaway", "C14": "decline collapse", "C15": "schedule_plateau", "C17": "few_episodes", "C20": "instability",
}  # fmt: skip
SYSTEMS = {
    "S1": "generation_bound", "S2": "long_tail_generation", "S3": "trainer_bound", "S5": "straggler", "S6": "throttling",
    "S7": "hardware_error", "S8": "memory_creep", "S10": "background_process checkpoint_stall", "S11": "waiting_on_reward",
}  # fmt: skip
OUT_OF_SIGHT = {
    "L13": "routing of experts", "L17": "likelihood of right answers", "L25": "test answers in the training data",
    "L27": "wrong template, end token or mask", "L31": "state left unchanged by the tools", "C2": "statistics of the observations",
    "C3": "actions at their bounds", "C4": "time limit treated as an end", "C5": "episode borders off by one",
    "C12": "old data in the replay buffer", "C13": "dormant units", "C16": "luck of the seed", "C18": "horizon and discount",
    "C19": "loops that are paid", "C20": "environments that move in step", "S4": "weight transfer and full caches of the engine",
    "S9": "weight transfer and full caches of the engine", "S12": "a job that hangs",
}  # fmt: skip
SEEN = LANGUAGE | CONTROL | SYSTEMS
NUMBERS = (("L", 35), ("C", 20), ("S", 12))
HEADINGS = {"Title", "Looks for", "Means", "Not to be confused with", "Next test", "Source"}
PATTERNS = set(patterns())


@pytest.mark.parametrize("row", [f"{letter}{n}" for letter, last in NUMBERS for n in range(1, last + 1)])
def test_row(row: str) -> None:
    """A row has a detector that exists, or a line of what cannot be seen with the check that shows it."""
    assert row in SEEN or row in OUT_OF_SIGHT
    assert set(SEEN.get(row, "").split()) <= PATTERNS
    if row in OUT_OF_SIGHT:
        assert OUT_OF_SIGHT[row] in {line.partition(":")[0] for lines in LINES.values() for line in lines}


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_manual_page(pattern: str) -> None:
    """Every detector says what it looks for, what that means, what it is not, the next test and the source; none of them empty."""
    page = patterns()[pattern].page
    assert set(page) == HEADINGS
    assert all(page.values())
