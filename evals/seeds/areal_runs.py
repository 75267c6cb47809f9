"""Situations of AReaL's guides: both importance weights, staleness, lengths, filtering, and the names as the guides write them."""

from evals.seeds.course_of_runs import KL_STILL, but
from evals.seeds.drawing import Made, Way, share, way
from evals.seeds.expected import Expected, Situation

USUAL = {
    "entropy/mean": way(0.62, 0.5, 0.44, sd=0.02),
    "response/length": way(410, sd=9),
    "policy/grad_norm": way(0.3, sd=0.03),
    "policy/learning_rate": way(1e-6),
    "ratio/clip_fraction": share(0.01, sd=0.002),
    "ratio/mean": way(1.0, sd=0.0012, exact=True),
    "rollout/behave_weight": way(1.0, sd=0.002, exact=True),
    "rollout/staleness": way(1.0, sd=0.1, low=0.0, exact=True),
}
SETTINGS = {
    "learning_rate": 1e-6,
    "minibatches": 4,
    "group": 8,
    "longest": 1024,
    "seed": 5,
    "staleness": 4,
    "actor.use_decoupled_loss": True,
}
GOOD = {"accuracy": share(0.3, 0.5, 0.6, sd=0.01)}
LEARNS = share(0.3, 0.5, 0.65, sd=0.02)
FALLS = share(0.3, 0.5, 0.55, 0.35, 0.2, sd=0.02)
FALLEN = {"accuracy": share(0.3, 0.5, 0.54, 0.34, 0.2, sd=0.01)}
AREAL = ("areal",)
NOT_GAMED = r"being gamed"


def run(
    score: dict[str, Way] | None = None, settings: dict[str, object] | None = None, raw: dict[str, Way] | None = None, **curves: Way
) -> Made:
    """An everyday asynchronous run with some curves replaced."""
    ours = {k.replace("__", "/"): w for k, w in curves.items()}
    return Made(USUAL | {"reward/mean": LEARNS} | ours, score or {}, settings=SETTINGS | (settings or {}), raw=raw or {})


def named_as_in_the_guide() -> Made:
    """The same measures under the guide's names."""
    made = run(FALLEN, ratio__mean=way(1.0, 1.1, 1.25, sd=0.01, exact=True))
    names = {
        "reward/mean": "ppo/actor/task_reward",
        "ratio/mean": "ppo_actor/update/importance_weight",
        "response/length": "ppo_actor/seq_len",
    }
    raw = {names[k]: w for k, w in (made.curves | {"reward/mean": FALLS}).items() if k in names}
    raw |= {
        "ppo_actor/update/behave_imp_weight": way(1.0, sd=0.002, exact=True),
        "rollout/reward": FALLS,
        "ppo_actor/no_eos_ratio": share(0.02, sd=0.004),
    }
    return but(made, curves={k: w for k, w in made.curves.items() if k not in (*names, "rollout/behave_weight")}, raw=raw)


AWAY = Expected(present=("importance_weight",), link=("policy_update", "data_freshness"), do=r"mini.?batch")
SITUATIONS = (
    Situation("areal_iw1", lambda: but(run(GOOD, {"minibatches": 1}, ratio__mean=way(1.03, sd=0.004, exact=True)), plan=1.5), Expected(present=("importance_weight",), names=(r"determin",), never=(r"nothing is known to be broken",), confidence=("low", "medium")), ("000 weights One mini-batch", "000 weights Both"), AREAL),
    Situation("areal_iw1_full", lambda: run(FALLEN, {"minibatches": 1}, reward__mean=FALLS, ratio__mean=way(1.1, sd=0.01, exact=True)), Expected(present=("importance_weight",), link=("data_freshness", "policy_update"), do=r"determin", call=("stop",)), ("000 weights Still off",), AREAL),
    Situation("areal_iw4", lambda: but(run(GOOD, ratio__mean=way(1.07, sd=0.006, exact=True)), plan=1.5), Expected(present=("importance_weight",), not_present=("stale_data",), names=(r"mini.?batch",)), ("000 weights Both", "000 weights importance_weight off"), AREAL),
    Situation("areal_iw4_full", lambda: run(FALLEN, reward__mean=FALLS, ratio__mean=way(1.0, 1.05, 1.14, sd=0.01, exact=True)), Expected(present=("importance_weight",), not_present=("stale_data",), do=r"mini.?batch|minibatch", link=("policy_update", "data_freshness"), call=("stop",)), ("000 weights importance_weight off", "002 fresh q3"), AREAL),
    Situation("areal_bw", lambda: run({"accuracy": share(0.3, 0.44, 0.44, 0.37, sd=0.008)}, reward__mean=share(0.3, 0.45, 0.45, 0.34, sd=0.015), rollout__behave_weight=way(1.0, 1.1, 1.5, 1.9, sd=0.02, exact=True)), Expected(verdict=("degrading", "collapsed", "plateaued"), present=("importance_weight",), not_present=("train_eval_gap",), never=(NOT_GAMED,), link=("data_freshness",), do=r"cap|upper.{0,5} = 5"), ("000 weights behave", "000 weights Persists"), AREAL),
    Situation("areal_bw_full", lambda: run(FALLEN, reward__mean=FALLS, rollout__behave_weight=way(1.0, 1.1, 1.5, 1.9, sd=0.02, exact=True)), Expected(verdict=("degrading", "collapsed"), present=("importance_weight",), link=("data_freshness",), do=r"behav_imp_weight_cap.*max_head_offpolicyness|max_head_offpolicyness.*behav_imp_weight_cap"), ("000 weights behave", "000 weights Persists"), AREAL),
    Situation("areal_stale", lambda: run({"accuracy": share(0.3, 0.44, 0.44, 0.37, sd=0.008)}, reward__mean=share(0.3, 0.45, 0.45, 0.34, sd=0.015), rollout__staleness=way(1, 2, 4, 7, sd=0.2, exact=True)), Expected(verdict=("degrading", "collapsed", "plateaued"), present=("stale_data",), link=("data_freshness",), do=r"max_head_offpolicyness. = 0.*recompute_logprob. = false.*use_decoupled_loss. = false", never=(NOT_GAMED,)), ("000 sync", "000 weights Persists", "001 all Sync", "003 sync"), AREAL),
    Situation("areal_stale_full", lambda: run(FALLEN, reward__mean=FALLS, rollout__staleness=way(1, 2, 4, 7, sd=0.2, exact=True)), Expected(verdict=("degrading", "collapsed"), present=("stale_data",), link=("data_freshness",), do=r"max_head_offpolicyness. = 0.*recompute_logprob. = false.*use_decoupled_loss. = false", call=("stop",)), ("000 sync", "003 sync", "002 fresh Control"), AREAL),
    Situation("areal_noeos", lambda: but(run(GOOD, raw={"ppo_actor/no_eos_ratios/avg": share(0.02, 0.1, 0.26, sd=0.01)}, response__length=way(400, 650, 900, sd=10)), plan=1.5), Expected(present=("truncation",), names=(r"no_eos|end token|cut|truncat", r"raise the length limit", r"leave cut responses out"), never=(r"nothing is known to be broken",)), ("000 length no_eos", "000 length table no_eos", "000 length Growing", "000 length Then raise", "000 length Or filter"), AREAL),
    Situation("areal_filter", lambda: but(run(GOOD, reward__mean=share(0.5, sd=0.012), raw={"rollout/reward": share(0.3, 0.5, 0.62, sd=0.02)}), plan=1.5), Expected(verdict=("improving",), present=("filtered_reward",), names=(r"filter",)), ("000 reward table task_reward differs", "000 reward table rollout/reward"), AREAL),
    Situation("areal_filter_more", lambda: but(run({"accuracy": share(0.45, 0.6, 0.7, sd=0.012)}, reward__mean=share(0.55, sd=0.015), raw={"rollout/reward": share(0.42, 0.6, 0.72, sd=0.015)}), plan=1.4, rows=(90, 130)), Expected(verdict=("improving",), present=("filtered_reward",), names=(r"filter",)), ("000 reward table task_reward differs", "000 reward table rollout/reward"), AREAL),
    Situation("areal_one_update_off", lambda: run({"accuracy": share(0.5, 0.6, 0.62, 0.45, 0.36, sd=0.012)}, {"minibatches": 1, "learning_rate": 5e-6}, reward__mean=share(0.5, 0.62, 0.66, 0.5, 0.4, sd=0.02), ratio__mean=way(1.16, sd=0.012, exact=True)), Expected(present=("importance_weight",), link=("data_freshness", "policy_update"), do=r"determin", call=("stop",)), ("000 weights Still off",), AREAL),
    Situation("areal_seednames_again", lambda: but(named_as_in_the_guide(), rows=(70, 110)), Expected(verdict=("degrading", "collapsed"), present=("importance_weight",), do=r"mini.?batch"), ("000 reward table ppo/actor", "000 weights table", "000 length table"), AREAL),
    Situation("areal_highvar", lambda: but(run(reward__mean=share(0.42, sd=0.24), rollout__behave_weight=way(1.0, sd=0.002, exact=True)), plan=1.5), Expected(present=("noise_dominated",), names=(r"batch",)), ("000 variance",), AREAL),
    Situation("areal_seednames", named_as_in_the_guide, Expected(verdict=("degrading", "collapsed"), present=("importance_weight",), do=r"mini.?batch"), ("000 reward table ppo/actor", "000 weights table", "000 length table"), AREAL),
)  # fmt: skip
_ = KL_STILL
