"""SGD, the Schema-Guided Dialogue dataset: dialogues written by people, tools that training may not have seen.

Source: google-research-datasets/dstc8-schema-guided-dialogue (CC BY-SA 4.0), one dialogue a line with its turns and
calls. There is no official scorer for single calls; ``benchmark`` has the rule.
"""
