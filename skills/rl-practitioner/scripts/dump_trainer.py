"""The trainer's log-probabilities of the answers in an engine's dump, for `rl-advisor consistency`.

Run by yourself where the model is: python dump_trainer.py MODEL engine.jsonl trainer.jsonl
Scores the answers of the engine's dump with transformers in one forward pass each. A prompt that is a JSON list of chat messages goes
through the model's chat template; pictures among its parts are seen by the model's processor.
"""

import json
import sys
from pathlib import Path
from typing import Any


def line(prompt: str, response: str, logprobs: list) -> str:
    """One line of the dump."""
    return json.dumps({"step": 0, "prompt": prompt, "response": response, "train_logprobs": logprobs})


def prompted(reader: Any, prompt: str) -> dict[str, Any]:
    """What the model is given of the prompt alone; ``reader`` is its processor or tokenizer."""
    if not prompt.startswith("["):
        return dict(getattr(reader, "tokenizer", reader)(prompt, return_tensors="pt"))
    messages = json.loads(prompt)
    for part in (p for m in messages if isinstance(m["content"], list) for p in m["content"] if p["type"] == "image_url"):
        part |= {"type": "image", "url": part.pop("image_url")["url"]}
    return dict(reader.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"))


def scored(model: Any, reader: Any, prompt: str, response: str) -> list:
    """Log-probability of each token of the response after the prompt."""
    import torch

    given = prompted(reader, prompt)
    start = given["input_ids"].shape[1]
    answer = getattr(reader, "tokenizer", reader)(response, return_tensors="pt", add_special_tokens=False).input_ids
    given["input_ids"] = torch.cat([given["input_ids"], answer], dim=1)
    given["attention_mask"] = torch.ones_like(given["input_ids"])
    if "token_type_ids" in given:
        given["token_type_ids"] = torch.cat([given["token_type_ids"], torch.zeros_like(answer)], dim=1)
    with torch.no_grad():
        logits = model(**{name: value.to(model.device) for name, value in given.items()}).logits[0, start - 1 : -1].float().cpu()
    return torch.log_softmax(logits, -1).gather(1, answer[0, :, None])[:, 0].tolist()


def main(name: str, engine: str, out: str) -> None:
    """Score every line of the engine's dump, by a model that sees where there are pictures."""
    import transformers as t

    rows = [json.loads(row) for row in Path(engine).read_text(encoding="utf-8").splitlines()]
    sees = any('"image_url"' in row["prompt"] for row in rows)
    kind, reads = (t.AutoModelForImageTextToText, t.AutoProcessor) if sees else (t.AutoModelForCausalLM, t.AutoTokenizer)
    model, reader = kind.from_pretrained(name, torch_dtype="auto", device_map="auto").eval(), reads.from_pretrained(name)
    with Path(out).open("w", encoding="utf-8") as dump:
        dump.writelines(line(r["prompt"], r["response"], scored(model, reader, r["prompt"], r["response"])) + "\n" for r in rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
