"""An intent out of a list that the prompt gives: the labels to choose from stand in the request.

The wrong ones on the list are in part those that the teacher takes for likely, so the text has to
be read. The probabilities of the labels that are not on the list go to those that are.
"""

from pools import fill, lines

SHARE = 0.08  # of the examples of an intent task
LABELS_MAX = 12  # on a list

ASK = lines("""
Choose the label that fits: {list}.\\n{u}
Labels: {list}\\nMessage: {u}\\nLabel:
Which of these intents is it: {list}?\\n{u}
Classify the message as one of: {list}.\\n\\n{u}
{u}\\n\\nWhich of these labels fits best? {list}
{u}\\nOptions: {list}\\nAnswer:
Pick one label from [{list}] for this message: "{u}"
Possible intents: {list}. Message: "{u}". Intent?
One of {list}: {u}
Classify "{u}" with one of these labels: {list}
Answer with one of these labels only: {list}\\n\\nText: {u}
Here are the labels: {list}. Which one is right for "{u}"?
The message is: {u}\\nThe label is one of: {list}
Assign one of the following labels. {list}\\n{u}
""")

SYSTEM = lines("""
Answer with one of these labels: {list}.
You label messages. The labels are {list}.
Classify each message as one of: {list}
Possible labels: {list}. Reply with one label and nothing else.
You route messages to {list}. Output the name of the route.
Intents: {list}
The user's message belongs to one of these classes: {list}. Which?
""")

SEPARATORS = [", ", ", ", " | ", "\n- ", "; ", " / "]


def offer(rng, split, text, answer, soft, labels):
    """(messages, answer, soft) with a list of labels, `answer` among them."""
    near = [label for label, _ in soft or [] if label not in (None, answer)]
    count = rng.randrange(2, LABELS_MAX + 1)
    wrong = near[: rng.randrange(count)]
    far = [
        label for label in rng.sample(labels, LABELS_MAX) if label != answer and label not in wrong
    ]
    listed = ([answer] + wrong + far)[:count]
    rng.shuffle(listed)
    given = rng.choice(SEPARATORS).join(listed)
    if soft:
        kept = [(label, p) for label, p in soft if label in listed]
        total = sum(p for _, p in kept)
        soft = [(label, p / total) for label, p in kept]
    if rng.random() < 0.4:
        system = fill(SYSTEM.pick(rng, split).replace("\\n", "\n"), list=given)
        return [("system", system), ("user", text)], answer, soft
    return (
        [("user", fill(ASK.pick(rng, split).replace("\\n", "\n"), list=given, u=text))],
        answer,
        soft,
    )
