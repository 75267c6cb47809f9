"""A token task and the policy-gradient training of many sequence policies on it.

A prompt is some digits; the answer is a table's value of sums of neighbours. A response may think, call a tool, answer, and end: thinking
long enough, or a tool that works, shows the digit that is due; without it the sum has to be learned. So right lengths pay, and so does
whatever the reward pays by mistake. Policies are small networks over what is visible at a token.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground.nets import Adam, Array, Weights, backward, draw, forward, log_softmax, network, pick

Ints = npt.NDArray[np.intp]
Knobs = dict[str, Array]
POOL, HELD = 4096, 1024
CODES = 12
"""Numbers by which a policy can know a prompt again, and so learn it by heart."""
MOST_THOUGHT = 5


@dataclass(frozen=True)
class Task:
    """What is asked: digits of the alphabet, digits of an answer, how much thought the hardest prompt needs, whether sums are asked."""

    name: str
    digits: int = 6
    answer: int = 2
    thought: int = 3
    sums: bool = True
    tool: bool = False
    longest: int = 14

    @property
    def words(self) -> int:
        """Tokens of the vocabulary: the digits, and think, call, answer, end, junk, praise."""
        return self.digits + 6


TASKS = {
    t.name: t
    for t in (
        Task("table", digits=6, answer=2, thought=2, sums=False, longest=10),
        Task("table_long", digits=8, answer=4, thought=2, sums=False),
        Task("sums", digits=5, answer=2, thought=3),
        Task("sums_short", digits=6, answer=1, thought=4, longest=12),
        Task("tools", digits=6, answer=2, thought=5, tool=True),
        Task("tools_long", digits=6, answer=3, thought=5, tool=True, longest=16),
        Task("thought", digits=8, answer=3, thought=4, longest=16),
    )
}


@dataclass(frozen=True)
class World:
    """The prompts of one block, in order of difficulty: the first ``POOL`` to train on, each next to a held-out one of its kind."""

    task: Task
    prompt: Ints
    gold: Ints
    wrong: Ints
    need: Ints
    code: Array
    dark: npt.NDArray[np.bool_]
    """Prompts that show nothing of what is asked: they can be learned by heart, and on held-out ones only be guessed."""


def world(task: Task, rng: np.random.Generator, hidden: float) -> World:
    """Prompts, answers and how much thought each needs; the share ``hidden`` cannot be solved."""
    n = POOL + HELD
    prompt = rng.integers(task.digits, size=(n, task.answer + 1))
    table = rng.permutation(task.digits)
    key = (prompt[:, :-1] + prompt[:, 1:]) % task.digits if task.sums else prompt[:, :-1]
    ease = np.concatenate([np.linspace(0, 1, POOL), np.linspace(0, 1, HELD)])
    need = np.ceil(ease * task.thought).astype(np.intp)
    code = rng.choice([-0.7, 0.7], size=(n, CODES)).astype(np.float32)
    return World(task, prompt, table[key], (table[key] + 1) % task.digits, need, code, rng.random(n) < hidden)


@dataclass
class Batch:
    """Responses as they were sampled: (runs, samples, tokens) of what was seen, written and how probable it was."""

    seen: Array
    token: Ints
    live: npt.NDArray[np.bool_]
    logp: Array
    ended: npt.NDArray[np.bool_]
    correct: npt.NDArray[np.bool_]
    share: Array
    neat: npt.NDArray[np.bool_]
    junk: npt.NDArray[np.bool_]
    praise: Ints
    calls: Ints
    failed: Ints

    @property
    def length(self) -> Ints:
        """Tokens of each response."""
        return np.asarray(self.live.sum(axis=2))


class Sampler:
    """Writes responses token by token for all runs at once."""

    def __init__(self, made: World) -> None:
        """A sampler for the prompts of one world."""
        self.world, self.task = made, made.task
        self.size = 3 * self.task.digits + 3 + MOST_THOUGHT + 1 + 2 + self.task.words + 1 + CODES + 1

    def known(self, ids: Ints) -> dict[str, Any]:
        """What is asked by each prompt, and the part of what a policy sees that never changes."""
        made = self.world
        still = np.zeros((*ids.shape, self.size), np.float32)
        still[..., -CODES - 1 : -1], still[..., -1] = made.code[ids], 1
        return {"prompt": made.prompt[ids], "gold": made.gold[ids], "need": made.need[ids], "dark": made.dark[ids], "still": still}

    def look(self, asked: dict[str, Any], at: dict[str, Any], scramble: npt.NDArray[np.bool_]) -> Array:
        """What a policy sees at this token: mostly which of several things it is, as ones among zeros."""
        d, scramble = self.task.digits, scramble | asked["dark"]
        j = np.minimum(at["written"], self.task.answer - 1)
        due = at["written"] < self.task.answer
        here, nxt = pick(asked["prompt"], j), pick(asked["prompt"], j + 1)
        here, nxt = np.where(scramble, (here * 3 + nxt) % d, here), np.where(scramble, (nxt * 5 + 1) % d, nxt)
        shown = due & ~scramble & ((at["thought"] >= asked["need"]) | at["helped"])
        x, one = asked["still"].copy(), np.ones(due.shape, bool)
        hot = (here, d + nxt, 2 * d + pick(asked["gold"], j), 3 * d + 5 + np.minimum(at["thought"], MOST_THOUGHT))
        where = np.stack([*hot, 3 * d + 6 + MOST_THOUGHT + at["last"]], axis=-1)
        np.put_along_axis(x, where, np.stack([due, due, shown, one, one], axis=-1).astype(np.float32), axis=-1)
        for i, flag in enumerate((at["answering"], due, shown, at["helped"], at["failing"])):
            x[..., 3 * d + i] = flag
        return np.asarray(x)

    def write(self, rng: np.random.Generator, weights: Weights, ids: Ints, k: Knobs) -> Batch:
        """Responses to the prompts ``ids`` (runs, samples), with the knobs of every run."""
        d, n = self.task.digits, self.task.longest
        shape = ids.shape
        scramble = rng.random(shape) < k["template"][:, None]
        stop = np.where(rng.random(shape) < k["early_end"][:, None], rng.integers(1, n, shape), k["cap"][:, None])
        zero, no, asked = np.zeros(shape, np.intp), np.zeros(shape, bool), self.known(ids)
        at: dict[str, Any] = {"written": zero.copy(), "thought": zero.copy(), "last": zero + self.task.words, "helped": no.copy()}
        at |= {"failing": no.copy(), "answering": no.copy()}
        live, right, sound = ~no, zero.copy(), ~no
        ended, junk, praise, calls, failed = no.copy(), no.copy(), zero.copy(), zero.copy(), zero.copy()
        kept: list[list[Any]] = [[], [], [], []]
        for t in range(n):
            live = live & (t < stop)
            if not live.any():
                break
            x = self.look(asked, at, scramble)
            logp = log_softmax(forward(weights, x)[-1] / k["temperature"][:, None, None])
            token = draw(rng, logp)
            for row, value in zip(kept, (x, token, live, pick(logp, token)), strict=True):
                row.append(value)
            digit, ending = (token < d) & live & at["answering"], (token == d + 3) & live
            called = live & (token == d + 1) & self.task.tool
            broke = called & (rng.random(shape) < k["tool_error"][:, None])
            calls, failed = calls + called, failed + broke
            at["helped"], at["failing"] = at["helped"] | (called & ~broke), broke
            due = pick(asked["gold"], np.minimum(at["written"], self.task.answer - 1))
            right += digit & (token == due) & (at["written"] < self.task.answer)
            praise += live & (token == d + 5)
            junk |= live & (token == d + 4) & at["answering"]
            sound &= ~(live & ((token == d + 4) | ((token == d + 2) & at["answering"]) | ((token < d) & ~at["answering"])))
            at["written"] = at["written"] + digit
            at["thought"] = at["thought"] + (live & (token == d))
            at["answering"] = at["answering"] | (live & (token == d + 2))
            at["last"], ended, live = token, ended | ending, live & ~ending
        x, token, alive, logp = (np.stack(row, axis=2) for row in kept)
        whole = ended & at["answering"] & (at["written"] == self.task.answer)
        share = np.where(at["written"] <= self.task.answer, right, 0) / self.task.answer
        correct, share = whole & (right == self.task.answer), share.astype(np.float32)
        return Batch(x, token, alive, logp, ended, correct, share, whole & sound, junk, praise, calls, failed)


def taught(rng: np.random.Generator, sampler: Sampler, skill: float, hidden: int = 32, steps: int = 150) -> Weights:
    """One policy that was shown demonstrations of which the share ``skill`` of the digits is right: what a run starts from."""
    task, weights, optimiser = sampler.task, network(rng, 1, (sampler.size, hidden, sampler.task.words)), Adam()
    d, one = task.digits, np.ones(1, np.float32)
    for _ in range(steps):
        ids = rng.integers(POOL, size=(1, 64))
        x, y, live = demonstrated(rng, sampler, ids, skill)
        flat = x.reshape(1, -1, sampler.size)
        seen = forward(weights, flat)
        slope = np.exp(log_softmax(seen[-1])) - np.eye(d + 6, dtype=np.float32)[y.reshape(1, -1)]
        slope *= live.reshape(1, -1, 1) / live.sum()
        optimiser.step(weights, backward(weights, seen, slope), one * 0.01, one * 10, np.ones(1, bool))
    return weights


def demonstrated(rng: np.random.Generator, sampler: Sampler, ids: Ints, skill: float) -> tuple[Array, Ints, npt.NDArray[np.bool_]]:
    """Demonstrations: what was seen and what was written at every token, and which tokens count."""
    task, shape = sampler.task, ids.shape
    d, zero, no = task.digits, np.zeros(shape, np.intp), np.zeros(shape, bool)
    thoughts = rng.integers(0, 3, shape)
    call = (rng.random(shape) < 0.25) & task.tool
    at: dict[str, Any] = {"written": zero, "thought": zero, "last": zero + task.words, "helped": no, "failing": no, "answering": no}
    rows: list[list[Any]] = [[], [], []]
    over, asked = no, sampler.known(ids)
    for _ in range(task.longest):
        x = sampler.look(asked, at, no)
        due = pick(asked["gold"], np.minimum(at["written"], task.answer - 1))
        digit = np.where(rng.random(shape) < skill, due, rng.integers(d, size=shape))
        token = np.where(at["answering"], np.where(at["written"] < task.answer, digit, d + 3), d + 2)
        token = np.where(~at["answering"] & (at["thought"] < thoughts), d, token)
        token = np.where(call & ~at["helped"] & ~at["answering"], d + 1, token)
        token = np.where(rng.random(shape) < 0.03, rng.integers(task.words, size=shape), token)
        for row, value in zip(rows, (x, token, ~over), strict=True):
            row.append(value)
        over = over | (token == d + 3)
        at = at | {"written": at["written"] + ((token < d) & at["answering"]), "thought": at["thought"] + (token == d)}
        at |= {"helped": at["helped"] | (token == d + 1), "answering": at["answering"] | (token == d + 2), "last": token}
    x, token, live = (np.stack(row, axis=2) for row in rows)
    return x, token, live
