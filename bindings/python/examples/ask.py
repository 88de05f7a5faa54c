"""Asks a server and says where the answer came from: python ask.py "What is 17 * 23?" """

import sys

from tandem_llm import APIError, Client

with Client() as client:  # TANDEM_URL, or http://127.0.0.1:8080
    try:
        with client.stream(sys.argv[1], options={"data_class": "sensitive"}) as stream:
            for piece in stream:
                print(piece, end="", flush=True)
    except APIError as error:
        sys.exit(f"{error.code}: {error}")
    decision = stream.decision
    print(f"\nfrom {decision.tier} ({decision.place}), {decision.egress_bytes} bytes left")
    for reason in decision.reasons:
        print(f"- {reason.text}")
    client.feedback(decision.exchange, ok=True)
