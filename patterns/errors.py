"""What `patterns` raises: `PatternError`, and nothing else."""

from __future__ import annotations


class PatternError(ValueError):
    """A pattern file, or the use of one, is wrong. The program cannot go on with it.

    `file` is the file's name, `key` the path of the offending key in it (members joined by `/`), `problem`
    says what is wrong with it.
    """

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key or 'document'}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem
