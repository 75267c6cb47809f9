"""The callbacks inside real trainers, on a CPU: TRL on a tiny model, Stable-Baselines3 on CartPole, Lightning on a bandit.

Run ``make callbacks`` (minutes), or name parts: ``callbacks.py trl sb3 lightning two``. Each trainer runs twice with default logging:
healthy, and broken with a callback that may stop it; TRL once more in two processes, which must stop together.
Printed are what the callback said, at which step training ended, and what the callback cost. Ends with 1 when a callback raised, said
nothing, left no report, or let a broken run go on to its end.
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_advisor.callbacks import lightning_callback, sb3_callback, trl_callback
from rl_advisor.tools.listener import REPORT

WORDS = ["<pad>", "<eos>", "<unk>", *"0123456789", "say", "a", "digit", "please", "now", "and", "or", "no", "yes"]


@dataclass(frozen=True)
class Trained:
    """How a training went: its last step, what we printed, seconds in all and inside the callback."""

    step: int
    said: list[str]
    seconds: float
    inside: float


def timed(train: Callable[[list[Any]], int], callback: Any) -> Trained:
    """Run a training with the callback; keep what we printed in it, and the time that it took of it."""
    begin, heard, spent = time.perf_counter(), io.StringIO(), [0.0]
    hook = next(name for name in ("on_step_end", "_on_step", "on_train_batch_end") if hasattr(callback, name))
    inner = getattr(callback, hook)

    def clocked(*given: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return inner(*given, **named)
        finally:
            spent[0] += time.perf_counter() - start

    setattr(callback, hook, clocked)
    with contextlib.redirect_stdout(heard):
        step = train([callback])
    said = [line for line in heard.getvalue().splitlines() if line.startswith("rl-advisor")]
    return Trained(step, said, time.perf_counter() - begin, spent[0])


def tiny_model(folder: Path) -> tuple[str, Any]:
    """Where a Qwen2 of two layers with random weights lies, and a tokenizer of two dozen words; nothing is downloaded."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed

    set_seed(0)
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))  # noqa: S106 - a token of text
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")  # noqa: S106
    config = Qwen2Config(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=1,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return str(folder), tokenizer


def digits(completions: list[str], **_: Any) -> list[float]:
    """How many different digits a response holds, as a share; a policy that says one thing only earns next to nothing."""
    return [len({w for w in c.split() if w.isdigit()}) / 10 for c in completions]


def grpo(out: Path, steps: int, rate: float, callbacks: list[Any]) -> int:
    """The last step of a GRPO training that writes into ``out``."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = tiny_model(out.with_name(f"{out.name}-model"))
    settings = GRPOConfig(
        output_dir=str(out),
        max_steps=steps,
        learning_rate=rate,
        max_grad_norm=1000.0 if rate > 0.1 else 1.0,
        per_device_train_batch_size=16,
        num_generations=8,
        max_completion_length=12,
        beta=0.02,
        logging_steps=1,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=0,
    )
    prompts = Dataset.from_dict({"prompt": ["say a digit please", "say a digit now", "digit and digit", "a digit or no"] * 8})
    trainer = GRPOTrainer(
        model=model, reward_funcs=digits, args=settings, train_dataset=prompts, processing_class=tokenizer, callbacks=callbacks
    )
    trainer.train()
    return int(trainer.state.global_step)


def ppo(_: Path, steps: int, rate: float, callbacks: list[Any]) -> int:
    """The last step of a PPO training."""
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)  # so small a network is slower on several
    model = PPO(
        "MlpPolicy", "CartPole-v1", learning_rate=rate, n_steps=256, max_grad_norm=100.0 if rate > 0.01 else 0.5, seed=0, device="cpu"
    )
    model.learn(steps, callback=callbacks)
    return int(model.num_timesteps)


def bandit(out: Path, steps: int, rate: float, callbacks: list[Any]) -> int:
    """The last step of a REINFORCE training by Lightning: eight arms, one of them paid; a high rate ends on the first arm that paid."""
    import torch
    from lightning import LightningModule, Trainer, seed_everything
    from lightning.pytorch.loggers import CSVLogger

    class Reinforce(LightningModule):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.logits = torch.nn.Parameter(torch.zeros(8))

        def training_step(self, *_: Any) -> Any:
            policy = torch.distributions.Categorical(logits=self.logits)
            arm = policy.sample((64,))
            paid = (arm == 3).float() + 0.1 * torch.randn(64)
            loss = -((paid - paid.mean()) * policy.log_prob(arm)).mean()
            kl = (self.logits.log_softmax(0).exp() * (self.logits.log_softmax(0) + torch.log(torch.tensor(8.0)))).sum()
            self.log_dict({"reward": paid.mean(), "loss": loss, "entropy": policy.entropy(), "kl": kl})
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=rate)

    seed_everything(0)
    logger = CSVLogger(str(out.parent), name=out.name, version="")
    trainer = Trainer(
        max_steps=steps, max_epochs=-1, accelerator="cpu", logger=logger, callbacks=callbacks, log_every_n_steps=1,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )  # fmt: skip
    trainer.fit(Reinforce(), torch.utils.data.DataLoader(range(steps)))
    return int(trainer.global_step)


@dataclass(frozen=True)
class Trainer:
    """A trainer, its callback, and how long it goes."""

    train: Callable[[Path, int, float, list[Any]], int]
    callback: Callable[..., Any]
    steps: int
    every: int
    good: float
    bad: float


TRAINERS = {
    "trl": Trainer(grpo, trl_callback, 80, 5, 3e-3, 0.3),
    "sb3": Trainer(ppo, sb3_callback, 16_000, 2_000, 1e-3, 0.5),
    "lightning": Trainer(bandit, lightning_callback, 200, 20, 2.0, 1e-9),
}


def check(name: str, t: Trainer, folder: Path) -> bool:
    """Print how both trainings of a trainer went; whether the callback did its work."""
    healthy, broken = (
        timed(
            lambda callbacks, part=part, rate=rate: t.train(folder / part, t.steps, rate, callbacks),
            t.callback(folder / part, t.every, stop=stop),
        )
        for part, rate, stop in (("healthy", t.good, False), ("broken", t.bad, True))
    )
    for kind, trained in (("healthy", healthy), ("broken", broken)):
        print(f"{name}, {kind}: ended at step {trained.step} of {t.steps} after {trained.seconds:.1f} s, ", end="")
        print(f"{trained.inside:.1f} s of them in the callback")
        print("\n".join(f"    {line[:300]}" for line in trained.said))
    reports = all((folder / kind / REPORT).is_file() for kind in ("healthy", "broken"))
    if name == "sb3":
        reports = reports and any((folder / "broken").glob("stopped_*_steps.zip"))
    judged = [line for line in broken.said if "cannot judge" not in line]
    return bool(healthy.step >= t.steps and judged and reports and broken.step < t.steps)


def in_two_processes(folder: Path) -> bool:
    """Whether a distributed training that breaks is ended in both of its processes at the same step."""
    command = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--nproc_per_node", "2", __file__, "--part-of", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False).stdout
    ended = sorted(line for line in said.splitlines() if line.startswith("process "))
    print("TRL GRPO in two processes, broken: " + "; ".join(ended))
    steps = [int(line.split()[-1]) for line in ended]
    return len(steps) == 2 and steps[0] == steps[1] < TRAINERS["trl"].steps


def one_of_two(folder: Path) -> None:
    """What one process of a distributed training does."""
    t = TRAINERS["trl"]
    step = t.train(folder, t.steps, t.bad, [t.callback(folder, t.every, stop=True)])
    sys.stdout.write(f"process {os.environ['RANK']} ended at step {step}\n")
    sys.stdout.flush()


def main() -> None:
    """Every trainer in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="trl, sb3, lightning, two (processes); all when left out")
    parser.add_argument("--keep", type=Path, help="folder for the runs; a temporary one when left out")
    parser.add_argument("--part-of", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part_of:
        one_of_two(asked.part_of)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        wanted = asked.parts or [*TRAINERS, "two"]
        good = [check(name, t, folder / name) for name, t in TRAINERS.items() if name in wanted]
        if "two" in wanted:
            good.append(in_two_processes(folder / "two" / "run"))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
