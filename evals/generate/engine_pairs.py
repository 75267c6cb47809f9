"""Dumps of a trainer and of the engine that samples for it, of the same tokens: what `rl-advisor consistency` compares.

    python evals/generate/engine_pairs.py FOLDER        needs torch and transformers, a CPU and a minute

A small random GPT-2 is trained by REINFORCE in float32. Another copy of it samples: in bfloat16 with the trainer's weights of each step
(``precision``), or in bfloat16 with the weights of the first step, which nobody sends again (``unsynced``). Each step's prompts, tokens and
both sides' log-probabilities are written as JSON lines, one file a side.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

STEPS, PROMPTS, TOKENS, VOCABULARY = 12, 8, 16, 96


def logprobs(model: GPT2LMHeadModel, ids: torch.Tensor, start: int) -> torch.Tensor:
    """Log-probability of each token from ``start`` on."""
    logits = model(ids).logits[:, start - 1 : -1].float()
    return torch.log_softmax(logits, -1).gather(-1, ids[:, start:, None]).squeeze(-1)


def sampled(engine: GPT2LMHeadModel, prompts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens drawn one by one, and the engine's log-probability of each as it drew it."""
    ids, told = prompts, []
    for _ in range(TOKENS):
        logs = torch.log_softmax(engine(ids).logits[:, -1].float(), -1)
        drawn = torch.multinomial(logs.exp(), 1)
        told.append(logs.gather(-1, drawn))
        ids = torch.cat([ids, drawn], -1)
    return ids, torch.cat(told, -1)


def written(ids: torch.Tensor) -> str:
    """Tokens as text."""
    return " ".join(f"t{i}" for i in ids.tolist())


def pair(folder: Path, synced: bool) -> None:
    """Train, and write what both sides say at each step."""
    torch.manual_seed(0)
    trainer = GPT2LMHeadModel(GPT2Config(n_layer=3, n_head=4, n_embd=64, vocab_size=VOCABULARY, n_positions=64, initializer_range=0.2))
    trainer.eval()
    engine = copy.deepcopy(trainer).to(torch.bfloat16)
    optimizer = torch.optim.Adam(trainer.parameters(), 3e-4)
    prompts = torch.randint(VOCABULARY, (PROMPTS, 4))
    for step in range(1, STEPS + 1):
        if synced:
            engine = copy.deepcopy(trainer).to(torch.bfloat16)
        with torch.no_grad():
            ids, told = sampled(engine, prompts)
        logs = logprobs(trainer, ids, prompts.shape[1])
        reward = (ids[:, prompts.shape[1] :] % 2 == 0).float().mean(-1)
        texts = [
            {"prompt": written(i[:4]), "response": written(i[4:]), "reward": round(r, 4), "step": step}
            for i, r in zip(ids, reward.tolist(), strict=True)
        ]
        for side, name, values in (("trainer", "prev_logprobs", logs.detach()), ("engine", "generation_logprobs", told)):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"{side}.jsonl").open("a") as file:
                file.writelines(
                    json.dumps({**t, name: [round(v, 5) for v in x]}) + "\n" for t, x in zip(texts, values.tolist(), strict=True)
                )
        optimizer.zero_grad()
        (-(reward - reward.mean())[:, None] * logs).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    for name, same in (("precision", True), ("unsynced", False)):
        pair(Path(sys.argv[1]) / name, same)
