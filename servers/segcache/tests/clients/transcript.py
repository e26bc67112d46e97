# SPDX-License-Identifier: Apache-2.0
"""What a client was told, line by line, so that two servers can be compared."""


def shown(value):
    """A value as text; a long one by its length and its ends."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:60]}...({len(text)})...{text[-20:]}"


def tell(name, call, *arguments, **options):
    """Calls, and prints what came back or was raised. Returns it."""
    try:
        result = call(*arguments, **options)
        print(f"{name}: {shown(result)}")
        return result
    except Exception as error:  # What is raised is part of the transcript.
        print(f"{name}: raised {type(error).__name__}: {shown(str(error))}")
        return None


def tell_names(name, figures, names):
    """Prints which of `names` are among `figures`; values differ from server to server."""
    found = {key.decode() if isinstance(key, bytes) else key for key in figures}
    print(f"{name}: {sorted(set(names) & found)} of {sorted(names)}")
