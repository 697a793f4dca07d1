"""Runs an agent with signed requests: python sign.py issuer.json https://agents.example helper "Hello". Needs cryptography."""
import base64, hashlib, json, secrets, sys, time, urllib.error, urllib.request, uuid
from urllib.parse import urlsplit
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def b64url(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
def compact(value): return json.dumps(value, separators=(",", ":")).encode()
def public(key): return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
def jwk(key): return {"crv": "Ed25519", "kty": "OKP", "x": b64url(public(key))}
def thumbprint(key): return b64url(hashlib.sha256(compact(jwk(key))).digest())  # RFC 7638: members in this order


def certify(issuer, session, claims):
    root = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(issuer["privateKey"]["d"] + "=="))
    now = int(time.time())
    header = {"typ": "gc-session+jwt", "alg": "Ed25519", "kid": thumbprint(root)}
    facts = {"iss": issuer["iss"], "aud": issuer["audience"], "jti": str(uuid.uuid4()), "cnf": {"jwk": jwk(session)}}
    payload = {**facts, "iat": now, "nbf": now, "exp": now + 600, **claims}
    signed = f"{b64url(compact(header))}.{b64url(compact(payload))}"
    return f"{signed}.{b64url(root.sign(signed.encode()))}"


def sign(method, url, headers, body, certificate, session):
    at, now = urlsplit(url), int(time.time())
    headers = {**headers, "authorization": f"GC-Session {certificate}"}
    if body:
        headers["content-digest"] = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    covered = {"@method": method, "@authority": at.netloc.lower(), "@path": at.path, "@query": f"?{at.query}", **headers}
    names = " ".join(f'"{name}"' for name in covered)
    parameters = f'({names});created={now};expires={now + 60};nonce="{secrets.token_urlsafe(16)}"'
    parameters += f';keyid="{thumbprint(session)}";alg="ed25519";tag="agents-worker-v1"'
    base = "\n".join(f'"{name}": {value}' for name, value in covered.items()) + f'\n"@signature-params": {parameters}'
    signature = base64.b64encode(session.sign(base.encode())).decode()
    return {**headers, "signature-input": f"gc={parameters}", "signature": f"gc=:{signature}:"}


if __name__ == "__main__":
    file, origin, agent, text = sys.argv[1:]
    session = Ed25519PrivateKey.generate()  # one for each session; renew the certificate with the same key
    claims = {"sub": "ada", "tenant": "acme", "agents": [agent], "scope": "run:create run:read"}
    certificate = certify(json.load(open(file)), session, claims)
    message = {"id": str(uuid.uuid4()), "role": "user", "parts": [{"type": "text", "text": text}]}
    body = compact({"agentId": agent, "chat": {"id": str(uuid.uuid4()), "messages": [message]}})
    headers = {"content-type": "application/json", "idempotency-key": f'"{uuid.uuid4()}"'}
    headers = sign("POST", f"{origin}/v1/runs", headers, body, certificate, session)
    try:
        events = urllib.request.urlopen(urllib.request.Request(f"{origin}/v1/runs", body, headers))
    except urllib.error.HTTPError as refused:
        sys.exit(refused.read().decode())  # says what is wrong, in "detail"
    for line in events:  # server-sent events
        chunk = json.loads(line[6:]) if line.startswith(b"data: {") else {}
        print(chunk["delta"] if chunk.get("type") == "text-delta" else "", end="", flush=True)
    print()
