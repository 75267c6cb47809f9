"""The inference engine: whether there is one, its memory and its speed.

Relates: use of vLLM or SGLang, the share of memory it takes, eager mode, and where the time and the memory go.
Why: generating with plain transformers takes several times as long as with an engine. An engine that shares the cards with the trainer and
    takes nine tenths of the memory leaves too little for the update. Eager mode turns CUDA graphs off.
Confirmed by: generation above half of the step's time; an out-of-memory error in the update or when the engine wakes.
Source: TRL documentation, 'Speeding up training'; verl performance tuning guide; TRL issues 2688 and 2971.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
FULL = 0.85
MOST = 0.5


def check(s: Settings) -> CheckSaid:
    """A note for each; confirmed by time or by an error of memory."""
    engine, memory, eager = s.given("engine"), s.given("engine_memory"), s.given("eager")
    keys = s.keys("engine", "engine_memory", "eager")
    died = any(e.kind == "out_of_memory" for e in s.run.events)
    share = _share(s)
    if engine is not None and engine.value is False:
        shown = f" Generation takes {100 * share:.0f} % of a step." if share else ""
        text = f"{engine}: answers are generated without an inference engine, several times slower.{shown}"
        return CheckSaid(
            "note", text, keys, f"Set `{engine.key}` = True (colocate mode on few cards).", confirmed=bool(share and share > MOST)
        )
    if memory and memory.number and memory.number >= FULL and s.words("engine_mode") != "server":
        text = f"{memory}: on cards shared with the trainer that leaves too little for the update."
        return CheckSaid("note", text, keys, f"Set `{memory.key}` to 0.5.", confirmed=died)
    if eager is not None and eager.value is True:
        return CheckSaid("note", f"{eager} turns CUDA graphs off: generation is slower.", keys, f"Set `{eager.key}` to False.")
    return CheckSaid("fine", "The engine's settings are usual.", keys) if keys else NOT_GIVEN


def _share(s: Settings) -> float | None:
    """The share of a step's time that generation takes, where both are logged."""
    phases = {n.rpartition("/")[2]: s.level(n) for n in s.run.curves if n.startswith("time/phase/")}
    took = next((v for n, v in phases.items() if v and ("generat" in n or n in ("gen", "rollout"))), None)
    whole = s.level("time/step")
    return took / whole if took and whole else None
