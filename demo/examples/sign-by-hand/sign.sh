#!/bin/sh
# Runs an agent with a signed request: sh sign.sh issuer.json https://agents.example helper "Hello". Needs openssl 3 and curl.
set -eu
issuer=$1 origin=$2 agent=$3 text=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

b64() { openssl base64 -A; }
b64url() { b64 | tr '+/' '-_' | tr -d '='; }
field() { sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p' "$issuer" | head -n 1; }
x_of() { openssl pkey -in "$1" -pubout -outform DER | tail -c 32 | b64url; }
thumbprint() { printf '{"crv":"Ed25519","kty":"OKP","x":"%s"}' "$1" | openssl dgst -sha256 -binary | b64url; }
sign() { printf '%s' "$2" >"$work/base" && openssl pkeyutl -sign -rawin -inkey "$1" -in "$work/base"; }
uuid() { openssl rand -hex 16; }

# The root key: the private JWK as PKCS#8, its fixed first bytes and the 32 bytes of "d".
{ printf '\060\056\002\001\000\060\005\006\003\053\145\160\004\042\004\040'; printf '%s=' "$(field d)" | tr -- '-_' '+/' | openssl base64 -d -A; } |
  openssl pkey -inform DER -out "$work/root.pem"
openssl genpkey -algorithm ed25519 -out "$work/session.pem" # one for each session
root=$(x_of "$work/root.pem") session=$(x_of "$work/session.pem") now=$(date +%s)

header='{"typ":"gc-session+jwt","alg":"Ed25519","kid":"'$(thumbprint "$root")'"}'
claims='{"iss":"'$(field iss)'","aud":"'$(field audience)'","sub":"ada","tenant":"acme","agents":["'$agent'"],"scope":"run:create run:read",
"iat":'$now',"nbf":'$now',"exp":'$((now + 600))',"jti":"'$(uuid)'","cnf":{"jwk":{"kty":"OKP","crv":"Ed25519","x":"'$session'"}}}'
signed=$(printf '%s' "$header" | b64url).$(printf '%s' "$claims" | b64url)
certificate=$signed.$(sign "$work/root.pem" "$signed" | b64url)

body='{"agentId":"'$agent'","chat":{"id":"'$(uuid)'","messages":[{"id":"'$(uuid)'","role":"user","parts":[{"type":"text","text":"'$text'"}]}]}}'
digest="sha-256=:$(printf '%s' "$body" | openssl dgst -sha256 -binary | b64):"
key='"'$(uuid)'"'
parameters='("@method" "@authority" "@path" "@query" "authorization" "content-type" "content-digest" "idempotency-key");created='$now'
;expires='$((now + 60))';nonce="'$(uuid)'";keyid="'$(thumbprint "$session")'";alg="ed25519";tag="agents-worker-v1"'
parameters=$(printf '%s' "$parameters" | tr -d '\n')
base='"@method": POST
"@authority": '${origin#*://}'
"@path": /v1/runs
"@query": ?
"authorization": GC-Session '$certificate'
"content-type": application/json
"content-digest": '$digest'
"idempotency-key": '$key'
"@signature-params": '$parameters
curl --silent --show-error --no-buffer --fail-with-body "$origin/v1/runs" --data-raw "$body" \
  --header "Authorization: GC-Session $certificate" --header 'Content-Type: application/json' \
  --header "Content-Digest: $digest" --header "Idempotency-Key: $key" \
  --header "Signature-Input: gc=$parameters" --header "Signature: gc=:$(sign "$work/session.pem" "$base" | b64):"
