"""The trainer's log-probabilities of the answers in an engine's dump, for `rl-advisor consistency`.

Run by yourself where the model is: python dump_trainer.py MODEL engine.jsonl trainer.jsonl
Takes prompt and response of every line of the engine's dump and scores the same tokens with transformers in one forward pass.
"""

import json
import sys
from pathlib import Path
from typing import Any


def line(prompt: str, response: str, logprobs: list) -> str:
    """One line of the dump."""
    return json.dumps({"step": 0, "prompt": prompt, "response": response, "train_logprobs": logprobs})


def scored(model: Any, tokenizer: Any, prompt: str, response: str) -> list:
    """Log-probability of each token of the response after the prompt."""
    import torch

    start = tokenizer(prompt, return_tensors="pt").input_ids
    answer = tokenizer(response, return_tensors="pt", add_special_tokens=False).input_ids
    ids = torch.cat([start, answer], dim=1).to(model.device)
    with torch.no_grad():
        logits = model(ids).logits[0, start.shape[1] - 1 : -1].float()
    return torch.log_softmax(logits, -1).gather(1, ids[0, start.shape[1] :, None])[:, 0].tolist()


def main(name: str, engine: str, out: str) -> None:
    """Score every line of the engine's dump."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto", device_map="auto").eval()
    with Path(engine).open(encoding="utf-8") as rows, Path(out).open("w", encoding="utf-8") as dump:
        said = ((row["prompt"], row["response"]) for row in map(json.loads, rows))
        dump.writelines(line(*pair, scored(model, tokenizer, *pair)) + "\n" for pair in said)


if __name__ == "__main__":
    main(*sys.argv[1:])
