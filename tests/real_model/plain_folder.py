"""Turns a GGUF file into an ordinary folder of bf16 weights, which vLLM reads: ``plain_folder.py FILE FOLDER``."""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

if __name__ == "__main__":
    file, folder = Path(sys.argv[1]), sys.argv[2]
    where = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    plain = GgufConfig(dequantize=True)
    AutoModelForCausalLM.from_pretrained(**where, quantization_config=plain, dtype=torch.bfloat16).save_pretrained(
        folder
    )
    AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
