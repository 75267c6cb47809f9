"""Situations of somebody who has nothing but words: a question to ``explain``, in one sentence or as a thread with all that stands around it.

Right are the steps of the answer: the command that each names, the address that it was given. The near-miss asks the same of another thing.
"""

from typing import Any

import numpy as np
from evals.seeds.doors import Asked, Drawing
from rl_advisor.tools import explained

Steps = list[dict[str, str]]
HELLO = (
    "Hi all,",
    "Hello, thanks for the great work!",
    "I am new to RL for language models.",
    "Question about my setup:",
    "Not sure whether this is the right place.",
    "We have been at this for two days.",
)
SETUP = (
    "We run on {gpus} H100s under Slurm, driver {driver}.",
    "Versions: areal 0.{minor}, torch 2.{minor}, python 3.1{digit}.",
    "It is a fork from last month on a single node with {gpus} cards.",
    "Model is Qwen2.5-{size}B, everything in bf16, {gpus} GPUs.",
    "Inside the docker image, {gpus} devices are visible.",
)  # fmt: skip
THANKS = (
    "Any pointer is welcome.",
    "Thanks!",
    "What am I missing?",
    "I could not find this in the docs.",
    "Happy to send more details.",
    "",
)
ERRORS = (
    "a KeyError",
    "`TypeError: 'NoneType' object is not iterable`",
    "an assertion",
    "RuntimeError: no trajectory returned",
    "a timeout",
    "JSONDecodeError",
)
ALONE = (
    "How do I bring up only the {server} in AReaL, without the trainer?",
    "Is there a way to launch just the {server} for AReaL and leave it running while I work on my agent?",
    "I want a standalone {server} (AReaL) so that I need not reload the model each time I edit my workflow. What is the command?",
    "Can I keep the {server} alive between runs instead of restarting it for every change of my agent code?",
    "What allocation_mode starts only the {server}?",
    "Starting the whole experiment takes five minutes each time; can the {server} stay up while I debug the rollout?",
    "Which part of the config does the {server} need if I want to run it by itself?",
    "how to start {server} separately, areal",
    "We'd like the {server} to survive while we iterate on our agent; how is it launched by itself?",
    "Every debug cycle reloads the weights into the {server}. Can it be decoupled from the training job?",
    "Is it supported to spin up the {server} once and connect several scripts to it later?",
    "Our agent sees images: what must I set on the {server} when I launch it alone?",
    "Do I need the whole cluster to get the {server} going, or can it be brought up individually?",
    "keep {server} running in the background, areal",
)  # fmt: skip
SERVERS = ("inference server", "LLM server", "SGLang server", "generation server", "inference engine", "sglang inference server")
NOT_ALONE = ("plotting page", "tensorboard page", "trainer", "login page of our cluster", "data loader", "reward model training")
FAILS = (
    "The server is up at {address} and my {workflow} fails with {error}.",
    "My {workflow} raises {error} as soon as it talks to {address}. How do I debug it?",
    "The {workflow} comes back empty although the SGLang endpoint {address} answers. Where do I look?",
    "I want to step through my multi-turn {workflow} in a debugger without a GPU; the inference server runs at {address}.",
    "{workflow} hangs after the second turn, server http://{address} is launched",
    "How can I test a custom {workflow} quickly against a running server ({address})?",
    "The {workflow} ends with {error}, but curl to the llm server at {address} works.",
    "{address} responds to health checks of the SGLang server, but my {workflow} never finishes.",
    "How do I put a breakpoint into my {workflow}? The server ({address}) is on another node.",
    "Connected to {address}; generation is fine, yet my {workflow} throws {error} in the reward call.",
    "First time writing a {workflow}; the SGLang server listens on {address}. How would you check it before training?",
    "Every change to my {workflow} costs a full restart of the server at {address}. What is the fastest way to find the bug ({error})?",
)  # fmt: skip
WORKFLOWS, NO_WORKFLOWS = (
    ("workflow", "agent workflow", "rollout workflow", "agent", "custom RolloutWorkflow", "tool agent"),
    ("dashboard", "browser", "wandb login", "download of the checkpoint", "ssh tunnel", "health page"),
)
BATCHES = (
    "I want to try my own loss on {batch}, without generating every time.",
    "How do I develop a custom RL algorithm on {batch}?",
    "Can I keep {batch} and debug my advantage code on it?",
    "Is it possible to run only the trainer side of AReaL with {batch} to test a new objective?",
    "custom algorithm on {batch}",
    "I changed the policy loss and would like to feed it {batch} while I debug, so that a change of result is a change of code.",
    "What is the best way to test a new estimator of advantages on {batch} before a real run?",
    "I'd like to iterate on a new advantage estimator with {batch} in place of new generation.",
    "Does AReaL let me go through my custom loss step by step with {batch}?",
    "How do I isolate bugs of my algorithm from data with {batch}?",
    "My own advantage normalisation: I want to unit-test it on {batch}.",
    "My modified PPO loss is slow to test because each try waits for rollouts. Can I use {batch}?",
)  # fmt: skip
KEPT = (
    "a saved batch",
    "one fixed batch of rollouts",
    "a recorded batch",
    "the same saved batch",
    "one stored batch of trajectories",
    "a dumped batch of rollouts",
)
FRESH = (
    "fresh rollouts of every step",
    "the full cluster",
    "a larger model",
    "live traffic",
    "a new environment",
    "twice the learning rate",
)


def steps_of(question: str, d: Drawing) -> Steps:
    """The steps of the answer to a question, asked as the form has it."""
    if d.form == "thread":
        pick, n = d.rng.choice, d.rng.integers
        setup = str(pick(SETUP)).format(gpus=2 ** n(0, 5), driver=f"5{n(10, 60)}.{n(10, 99)}", minor=n(1, 9), digit=n(0, 3), size=n(1, 33))
        question = "\n\n".join(filter(None, (str(pick(HELLO)), setup, question, str(pick(THANKS)))))
    return list(explained(question).get("steps", []))


def asks(patterns: tuple[str, ...], **words: tuple[tuple[str, ...], tuple[str, ...]]) -> Any:
    """Asks with one of these sentences, each word drawn from the first of its lists, of the near-miss from the second."""

    def ask(d: Drawing) -> tuple[str, Steps]:
        address = f"{'10.' + '.'.join(map(str, d.rng.integers(1, 254, 3)))}:{d.rng.integers(1024, 65535)}"
        drawn = {name: str(d.rng.choice(near if d.near else said)) for name, (said, near) in words.items()}
        question = str(d.rng.choice(np.array(patterns))).format(address=address, error=d.rng.choice(ERRORS), **drawn)
        return address, steps_of(question, d)

    return ask


def runs(*commands: str, part: str = "run") -> Any:
    """Right where every one of these stands in this part of a step, the address that was asked with in its place."""
    return lambda a: all(any(c.replace("{address}", a[0]) in step[part] for step in a[1]) for c in commands)


def both(*rules: Any) -> Any:
    """Right where each of these is."""
    return lambda a: all(rule(a) for rule in rules)


FORMS = ("sentence", "thread")
alone = asks(ALONE, server=(SERVERS, NOT_ALONE))
fails = asks(FAILS, workflow=(WORKFLOWS, NO_WORKFLOWS))
batch = asks(BATCHES, batch=(KEPT, FRESH))
SITUATIONS = (
    Asked("d_server_alone", alone, both(runs("python -m areal.launcher.local", "allocation_mode=sglang.d4p1t1 "), runs("before the +", part="do"), runs("AREAL_LLM_SERVER_ADDRS=", part="means")), ("003 server alone",), FORMS),
    Asked("d_server_images", alone, runs("`sglang.enable_multimodal=true`", part="do"), ("003 server images",), FORMS),
    Asked("d_workflow_debugged", fails, both(runs('initialize(addr="{address}")', "needs no GPU", "debugger", part="do"), runs("without restarting", part="means")), ("003 server debugger",), FORMS),
    Asked("d_workflow_traced", fails, runs("rollout.enable_rollout_tracing=True", "http://{address}/health"), ("003 server tracing",), FORMS),
    Asked("d_agent_in_step", fails, runs("max_head_offpolicyness=0"), ("000 sync bring up",), FORMS),
    Asked("d_batch_saved", batch, runs("torch.save(", "numpy.savez("), ("003 offline save",), FORMS),
    Asked("d_trainer_alone", batch, both(runs("after the +", part="do"), runs("among the stop tokens", "dist.barrier", "torch.cuda.synchronize")), ("003 offline trainer",), FORMS),
)  # fmt: skip
