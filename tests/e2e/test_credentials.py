#!/usr/bin/env python3
"""Credentials that end: got by a command, for Google's service account, for the role of a container
or of a machine at AWS; renewed before they end, and said when they cannot be had."""

import base64
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from certificates import openssl
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from scripted_providers import ScriptedBedrock, ScriptedGemini
from tandem import Tandem, clean_environment, run, wait_until

CLAUDE = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"


class Desk:
    """A server that gives out credentials; `answer(method, path, headers, body)` returns (status,
    text)."""

    def __init__(self, answer):
        self.asked = []
        desk = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                desk.asked.append((self.command, self.path, headers, body.decode()))
                status, text = answer(*desk.asked[-1])
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_PUT = reply

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def tier(kind, url, **members):
    fields = "".join(f", {name}: {value}" for name, value in members.items())
    return (
        f"tiers:\n  - {{name: cloud, kind: {kind}, base_url: {url}{fields}}}\n"
        "routes:\n  - {name: auto, kind: hybrid, tiers: [cloud]}\n"
    )


def soon(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def tokens_of(cloud):
    return [call["headers"]["authorization"].removeprefix("Bearer ") for call in cloud.calls()]


def doctor(tandem, **env):
    code, out, err = run(
        "doctor", "--json", "--config", tandem.config, env={**tandem.environment, **env}
    )
    rows = [row for row in json.loads(out)["checks"] if row["name"] == "tier cloud"]
    return code, rows, err


# --- a command ---


@case
def test_a_commands_token_is_used_and_renewed():
    cloud = ScriptedCloud(Script(text="Hello."))
    with tempfile.TemporaryDirectory() as folder:
        count, script = Path(folder) / "count", Path(folder) / "token"
        script.write_text(
            f"#!/bin/sh\necho x >> {count}\nn=$(wc -l < {count})\n"
            'printf \'{"access_token": "token-%s-%s", "expires_in": 3}\' "$n" "${SECRET:-none}"\n'
        )
        script.chmod(0o700)
        config = tier("openai", cloud.base_url, model="m", token_command=f"[{script}, a]")
        with Tandem(config, env={"SECRET": "of-another-tier"}) as tandem:
            equal(tandem.chat("Hi").text, "Hello.")
            equal(tokens_of(cloud), ["token-1-none"])  # nor does it see what others have
            wait_until(lambda: len(count.read_text()) >= 4, what="a second run")

            def renewed():
                equal(tandem.chat("Hi").text, "Hello.")
                return tokens_of(cloud)[-1] > "token-1-none"

            wait_until(renewed, what="the second token")
            script.write_text("#!/bin/sh\nexit 3\n")
            wait_until(
                lambda: any("credentials_not_renewed" in line for line in tandem.log),
                what="the log",
            )
            equal(tandem.chat("Hi").text, "Hello.")  # by the old one
            assert not any("token-" in line for line in tandem.log), tandem.log


@case
def test_a_command_that_gives_nothing_is_said_and_tried_again():
    cloud = ScriptedCloud(Script(text="Hello."))
    for words, said in (
        ("[/nonexistent/token]", "No such file"),
        ("[/bin/false]", "ended with the exit code 1"),
        ("[/bin/true]", "must print a token"),
        ("[/bin/echo, a b]", "must print a token"),
    ):
        with Tandem(tier("openai", cloud.base_url, model="m", token_command=words)) as tandem:
            assert any("credentials_missing" in line and said in line for line in tandem.log), (
                said,
                tandem.log,
            )
            code, (row,), err = doctor(tandem)
            equal((code, row["status"]), (1, "fail"), str(row))
            assert said in row["text"], row
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.yaml"
        path.write_text(
            tier("openai", cloud.base_url, token_command="[a]", api_key_env="B", model="m")
        )
        code, out, err = run("policy", "check", path, env=clean_environment())
        assert code == 1 and "token_command beside another key" in err + out.decode(), (out, err)


# --- Google ---


def google_desk(public, life=3600):
    number = [0]

    def answer(method, path, headers, body):
        form = dict(urllib.parse.parse_qsl(body))
        if form.get("grant_type") == "refresh_token":
            right = form["refresh_token"] == "1//a+b/c" and form["client_secret"] == "s&t"
            return (
                (200, '{"access_token": "of-a-user", "expires_in": 3600}') if right else (400, "")
            )
        equal(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer")
        head, claims, signature = form["assertion"].split(".")
        with tempfile.TemporaryDirectory() as folder:
            signed, text = Path(folder) / "signature", Path(folder) / "text"
            signed.write_bytes(base64.urlsafe_b64decode(signature + "=="))
            text.write_text(f"{head}.{claims}")
            verify = ["openssl", "dgst", "-sha256", "-verify", public, "-signature", signed, text]
            if subprocess.run(verify, capture_output=True).returncode:
                return 400, '{"error": "invalid_grant", "error_description": "Invalid signature."}'
        said = json.loads(base64.urlsafe_b64decode(claims + "=="))
        equal(
            json.loads(base64.urlsafe_b64decode(head + "==")),
            {
                "alg": "RS256",
                "typ": "JWT",
                "kid": "k1",
            },
        )
        equal((said["iss"], said["aud"]), ("me@p.iam.example.com", desk.url + "/token"))
        equal(
            (said["scope"], said["exp"] - said["iat"]),
            (
                "https://www.googleapis.com/auth/cloud-platform",
                3600,
            ),
        )
        assert abs(said["iat"] - time.time()) < 60, said
        number[0] += 1
        return 200, json.dumps(
            {
                "access_token": f"{ScriptedGemini.key}{number[0]}",
                "expires_in": life,
                "token_type": "Bearer",
            }
        )

    desk = Desk(answer)
    desk.number = number
    return desk


@case
def test_a_service_account_gets_tokens_and_renews_them():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key, public, other = folder / "key.pem", folder / "public.pem", folder / "other.pem"
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", other)
        openssl("pkey", "-in", key, "-pubout", "-out", public)
        desk = google_desk(public, life=3)
        account = {
            "type": "service_account",
            "client_email": "me@p.iam.example.com",
            "private_key_id": "k1",
            "private_key": key.read_text(),
            "token_uri": desk.url + "/token",
        }
        file = folder / "account.json"
        file.write_text(json.dumps(account))
        cloud = ScriptedGemini(Script(text="Hello."))
        cloud.vertex, cloud.key = True, ScriptedGemini.key + "1"
        url = cloud.root + "/v1/projects/p/locations/l"
        for by_file in (True, False):
            desk.asked.clear()
            more = {"api_key_file": file} if by_file else {}
            env = {} if by_file else {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
            with Tandem(tier("vertex", url, model="gemini-2.5-flash", **more), env=env) as tandem:
                equal(len(desk.asked), 1)
                first = f"Bearer {ScriptedGemini.key}{desk.number[0]}"
                if by_file:
                    equal(tandem.chat("Hi").text, "Hello.", str(tandem.log))
                cloud.key = None

                def renewed(first=first):
                    assert tandem.chat("Hi").status != 200
                    used = cloud.requests[-1]["headers"]["authorization"]
                    assert used.startswith(f"Bearer {ScriptedGemini.key}"), used
                    return used != first

                wait_until(renewed, what="the use of the next token")
                assert not any(ScriptedGemini.key in line for line in tandem.log)
        account["private_key"] = other.read_text()
        file.write_text(json.dumps(account))
        for change, said in (
            ({}, "Invalid signature."),
            ({"private_key": "nonsense"}, "no RSA key"),
            ({"token_uri": "http://example.com/"}, "must be an https address"),
            ({"type": "external_account"}, "neither a service account"),
        ):
            file.write_text(json.dumps({**account, **change}))
            config = tier("vertex", url, model="gemini-2.5-flash", api_key_file=file)
            with Tandem(config) as tandem:
                _, (row,), _ = doctor(tandem)
                equal(row["status"], "fail", str(row))
                assert said in row["text"], row
                assert "PRIVATE" not in row["text"] and "nonsense" not in row["text"]


@case
def test_a_users_own_file_of_gcloud_does_too():
    desk = google_desk("")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "adc.json"
        file.write_text(
            json.dumps(
                {
                    "type": "authorized_user",
                    "client_id": "c",
                    "client_secret": "s&t",
                    "refresh_token": "1//a+b/c",
                    "token_uri": desk.url + "/token",
                }
            )
        )
        cloud = ScriptedGemini(Script(text="Hello."))
        cloud.vertex, cloud.key = True, "of-a-user"
        url = cloud.root + "/v1/projects/p/locations/l"
        env = {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
        with Tandem(tier("vertex", url, model="gemini-2.5-flash"), env=env) as tandem:
            equal(tandem.chat("Hi").text, "Hello.")


# --- AWS ---


def role(cloud, life=3600):
    return json.dumps(
        {
            "Code": "Success",
            "AccessKeyId": cloud.key_id,
            "SecretAccessKey": cloud.secret,
            "Token": cloud.token,
            "Expiration": soon(life),
        }
    )


def bedrock(cloud):
    return tier("bedrock", cloud.root, model=json.dumps(CLAUDE), region=cloud.region)


@case
def test_the_role_of_a_container():
    cloud = ScriptedBedrock(Script(text="Signed."))
    cloud.token = "FwoGZXIvYXdzEXAMPLETOKEN=="
    life = [4]

    def answer(method, path, headers, body):
        right = headers.get("authorization") == "let-me-in" and path == "/creds?x=1"
        return (200, role(cloud, life[0])) if right else (403, "{}")

    desk = Desk(answer)
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder) / "token"
        token.write_text("let-me-in\n")
        env = {
            "HOME": folder,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": desk.url + "/creds?x=1",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token),
        }
        with Tandem(bedrock(cloud), env=env) as tandem:
            equal(tandem.chat("Hello").text, "Signed.")
            cloud.secret, cloud.key_id = "another", "AKIDOTHER"  # the old one is no longer taken
            life[0] = 3600
            wait_until(lambda: tandem.chat("Hello").status == 200, what="the next credentials")
            assert len(desk.asked) > 1, desk.asked
        env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://example.com/creds"
        with Tandem(bedrock(cloud), env=env) as tandem:
            _, (row,), _ = doctor(tandem)
            assert "must be an https address, or one of this machine" in row["text"], row
        token.write_text("wrong")
        env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = desk.url + "/creds?x=1"
        with Tandem(bedrock(cloud), env=env) as tandem:
            _, (row,), _ = doctor(tandem)
            equal(row["status"], "fail")
            assert "gave no credentials (HTTP 403)" in row["text"], row


@case
def test_the_role_of_a_machine():
    cloud = ScriptedBedrock(Script(text="Signed."))
    cloud.token = "FwoGZXIvYXdzEXAMPLETOKEN=="
    roles = ["my-role"]

    def answer(method, path, headers, body):
        if (method, path) == ("PUT", "/latest/api/token"):
            right = headers.get("x-aws-ec2-metadata-token-ttl-seconds") == "21600"
            return (200, "imds-token") if right else (400, "")
        if headers.get("x-aws-ec2-metadata-token") != "imds-token":
            return 401, ""
        base = "/latest/meta-data/iam/security-credentials/"
        if path == base:
            return (200, roles[0]) if roles[0] else (404, "")
        return (200, role(cloud)) if path == base + roles[0] else (404, "")

    desk = Desk(answer)
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "HOME": folder,
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": desk.url + "/",
        }
        with Tandem(bedrock(cloud), env=env) as tandem:
            equal(tandem.chat("Hello").text, "Signed.")
            equal([asked[0] for asked in desk.asked], ["PUT", "GET", "GET"])
        for name, said in (("", "no API key"), ("../../x", "no name of a role")):
            roles[0] = name
            with Tandem(bedrock(cloud), env=env) as tandem:
                _, (row,), _ = doctor(tandem)
                assert said in row["text"], row
        before = len(desk.asked)
        with Tandem(bedrock(cloud), env={**env, "AWS_EC2_METADATA_DISABLED": "true"}):
            equal(len(desk.asked), before)


if __name__ == "__main__":
    sys.exit(main())
