"""The dialects, by name. A new family is one file and one row here; docs/dialects.md shows how.

The order is that in which `auto` asks: who has the more particular signs comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harvester.dialects.anthropic import ANTHROPIC
from harvester.dialects.deepseek import DEEPSEEK
from harvester.dialects.dialect import Dialect
from harvester.dialects.function_tag import FUNCTION_TAG
from harvester.dialects.gemma import GEMMA
from harvester.dialects.glm import GLM
from harvester.dialects.harmony import HARMONY
from harvester.dialects.hermes import HERMES
from harvester.dialects.kimi import KIMI
from harvester.dialects.llama import LLAMA, PYTHONIC
from harvester.dialects.mistral import MISTRAL
from harvester.dialects.openai import OPENAI
from harvester.dialects.qwen_xml import QWEN_XML
from harvester.dialects.react import REACT

_ALL: Final = (
    HARMONY,
    DEEPSEEK,
    KIMI,
    GEMMA,
    MISTRAL,
    HERMES,
    GLM,
    FUNCTION_TAG,
    QWEN_XML,
    ANTHROPIC,
    OPENAI,
    LLAMA,
    PYTHONIC,
    REACT,
)

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType({dialect.name: dialect for dialect in _ALL})
