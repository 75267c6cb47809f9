"""Trains tiny language models by TRL's GRPO with known faults, as labeled runs: ``python evals/generate/grpo_runs.py OUT [FAMILY ...]``.

Needs torch, transformers and trl, and nothing from any hub: the model is built from a configuration and warmed up on noisy demonstrations,
the tokenizer is trained on the tasks. On a CPU a run takes minutes; where a GPU is found (or with ``--size large``) the model and the
batches are larger. Every few steps a held-out score is sampled twice: one half is what the run logs, the other is the hidden truth.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import numpy as np
import torch
from datasets import Dataset
from grpo_faults import BASE, GRPO_RECIPES, GrpoRecipe
from grpo_tasks import ALPHABET, REWARDS, TASKS, demonstrations, said
from labels import label
from sb3_runs import EVALUATIONS, add_label
from second import GRPO_RECIPES as SECOND
from slim_grpo import slim_run
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

SIZES = {
    "small": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4},
    "large": {"hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 8, "num_attention_heads": 8},
}
BATCH = {"small": 64, "large": 512}
SETS = {"unseen": GRPO_RECIPES, "second": SECOND}
"""Recipes by the name of the folder OUT."""
HELD_OUT = 256
"""Prompts of a held-out evaluation; half of them are hidden."""


def tokenizer_of() -> PreTrainedTokenizerFast:
    """A tokenizer of single characters, trained on what the tasks are written in."""
    inner = Tokenizer(models.WordLevel(unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(""), behavior="isolated")
    inner.decoder = decoders.Fuse()
    inner.train_from_iterator(list(ALPHABET), trainers.WordLevelTrainer(special_tokens=["?", "<pad>", "<end>"], show_progress=False))
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="?", pad_token="<pad>", eos_token="<end>", padding_side="left", model_max_length=64
    )


def warmed(recipe: GrpoRecipe, seed: int, size: str, tokenizer: PreTrainedTokenizerFast, folder: Path, device: str) -> str:
    """The path of a model that has seen noisy demonstrations of the task."""
    set_seed(seed)
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=64, tie_word_embeddings=True, **special, **SIZES[size])
    )
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3 if size == "small" else 5e-4)
    for k in range(recipe.warm_up):
        pairs = demonstrations(recipe.env, BATCH["small"], recipe.right, seed * 1_000_003 + k)
        rows = tokenizer([prompt + answer + tokenizer.eos_token for prompt, answer in pairs], return_tensors="pt", padding=True).to(device)
        labels = rows["input_ids"].masked_fill(rows["attention_mask"] == 0, -100)
        model(input_ids=rows["input_ids"], attention_mask=rows["attention_mask"], labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return str(folder)


class Examine(TrainerCallback):
    """Samples a held-out score at fixed steps, puts the late fault in, and notes where a checkpoint would lie."""

    def __init__(self, recipe: GrpoRecipe, tokenizer: PreTrainedTokenizerFast, folder: Path, rewards: "Rewards") -> None:
        """Examinations of one run, whose checkpoints go to ``folder``."""
        self.recipe, self.tokenizer, self.folder, self.rewards = recipe, tokenizer, folder, rewards
        random = Random(7)
        self.prompts = [TASKS[recipe.env](random) for _ in range(HELD_OUT)]
        self.steps: list[int] = []
        self.halves: list[tuple[float, float]] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """The score before training."""
        self._examine(state, model)

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, lr_scheduler: Any = None, **_: Any) -> None:
        """The late fault, and a score every few steps."""
        if state.global_step == self.recipe.injected_at:
            if "learning_rate" in self.recipe.later:
                lr_scheduler.base_lrs = [self.recipe.later["learning_rate"]] * len(lr_scheduler.base_lrs)
            self.rewards.name = self.recipe.later.get("reward", self.rewards.name)
        if state.global_step % (self.recipe.steps // EVALUATIONS) == 0:
            self._examine(state, model)

    def _examine(self, state: Any, model: Any) -> None:
        texts = [prompt for prompt, _ in self.prompts]
        rows = self.tokenizer(texts, return_tensors="pt", padding=True).to(model.device)
        was_training = model.training
        model.eval()
        with torch.no_grad():
            made = model.generate(
                input_ids=rows["input_ids"],
                attention_mask=rows["attention_mask"],
                do_sample=True,
                temperature=1.0,
                top_k=0,
                max_new_tokens=12,
            )
        model.train(was_training)
        spoken = self.tokenizer.batch_decode(made[:, rows["input_ids"].shape[1] :], skip_special_tokens=True)
        right = np.array([said(text) == answer for text, (_, answer) in zip(spoken, self.prompts, strict=True)], float)
        self.steps.append(state.global_step)
        self.halves.append((right[1::2].mean(), right[0::2].mean()))
        if self.recipe.logged_eval:
            state.log_history.append({"epoch": state.epoch or 0, "eval_accuracy": right[1::2].mean(), "step": state.global_step})
        if len(self.steps) % 4 == 1 and state.global_step:
            (self.folder / f"checkpoint-{state.global_step}").mkdir(parents=True, exist_ok=True)


class Rewards:
    """The reward function of a run, which may become another while it trains."""

    __name__ = "task_reward"

    def __init__(self, name: str, seed: int) -> None:
        """The reward of that name."""
        self.name, self.random = name, Random(seed)

    def __call__(self, completions: list[str], answer: list[str], **_: Any) -> list[float]:
        """One number a completion."""
        return [REWARDS[self.name](text, right, self.random) for text, right in zip(completions, answer, strict=True)]


def train(recipe: GrpoRecipe, seed: int, size: str, target: Path) -> dict[str, Any]:
    """Trains one run, writes what it left to ``target`` and returns its label."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(torch.get_num_threads() if device == "cuda" else 1)
    tokenizer, rewards = tokenizer_of(), Rewards(recipe.reward, seed)
    random = Random(seed)
    drawn = [TASKS[recipe.env](random) for _ in range(4096)]
    data = Dataset.from_dict({"prompt": [p for p, _ in drawn], "answer": [a for _, a in drawn]})
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        start = warmed(recipe, seed, size, tokenizer, Path(scratch) / "start", device)
        options = {**BASE, "per_device_train_batch_size": BATCH[size], **recipe.changes}
        arguments = GRPOConfig(
            output_dir=str(out), max_steps=recipe.steps, logging_steps=1, save_strategy="no", report_to="none", disable_tqdm=True, seed=seed,
            use_cpu=device == "cpu", bf16=False, log_completions=True, num_completions_to_print=0, logging_nan_inf_filter=False, **options,
        )  # fmt: skip
        examine = Examine(recipe, tokenizer, out, rewards)
        trainer = GRPOTrainer(
            model=start, reward_funcs=rewards, args=arguments, train_dataset=data, processing_class=tokenizer, callbacks=[examine]
        )
        trainer.train()
        trainer.state.save_to_json(str(out / "trainer_state.json"))
        (out / "training_args.json").write_text(json.dumps(arguments.to_dict(), default=str), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        slim_run(out, target, crashed=False)
    seen, hidden = np.array(examine.halves).T
    late = float(np.median(hidden[len(hidden) // 2 :]))
    return label(recipe, seed, np.array(examine.steps, float), seen, hidden, (late * (1 - late) / (HELD_OUT // 2)) ** 0.5)


def main() -> None:
    """Writes the runs of the named families (all of them by default) and adds their labels to ``labels.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--size", choices=SIZES, default="large" if torch.cuda.is_available() else "small")
    options = parser.parse_args()
    for number, (recipe, seed) in enumerate(((r, seed) for r in SETS[options.out.name] for seed in r.seeds), 1):
        if options.families and recipe.family not in options.families:
            continue
        run = f"{options.out.name}-grpo-{number:02d}"
        made = train(recipe, seed, options.size, options.out / "runs" / run)
        add_label(options.out / "labels.json", run, made | {"split": "test"})
        print(run, recipe.family, made["verdicts"], file=sys.stderr)


if __name__ == "__main__":
    main()
