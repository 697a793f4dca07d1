// Runs an agent with a signed request: go run sign.go issuer.json https://agents.example helper "Hello".
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

type object = map[string]any

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compact(value any) []byte { text, err := json.Marshal(value); check(err); return text } // members in the order of their names
func b64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
func random() string { bytes := make([]byte, 16); _, err := rand.Read(bytes); check(err); return b64url(bytes) }

func jwk(key ed25519.PrivateKey) object {
	return object{"crv": "Ed25519", "kty": "OKP", "x": b64url(key.Public().(ed25519.PublicKey))}
}

func thumbprint(key ed25519.PrivateKey) string { sum := sha256.Sum256(compact(jwk(key))); return b64url(sum[:]) } // RFC 7638

type issuerFile struct {
	Iss, Audience string
	PrivateKey    struct{ D string }
}

func certify(issuer issuerFile, session ed25519.PrivateKey, claims object) string {
	seed, err := base64.RawURLEncoding.DecodeString(issuer.PrivateKey.D)
	check(err)
	root, now := ed25519.NewKeyFromSeed(seed), time.Now().Unix()
	for name, value := range (object{"iss": issuer.Iss, "aud": issuer.Audience, "iat": now, "nbf": now, "exp": now + 600,
		"jti": random(), "cnf": object{"jwk": jwk(session)}}) {
		claims[name] = value
	}
	header := object{"typ": "gc-session+jwt", "alg": "Ed25519", "kid": thumbprint(root)}
	signed := b64url(compact(header)) + "." + b64url(compact(claims))
	return signed + "." + b64url(ed25519.Sign(root, []byte(signed)))
}

func sign(request *http.Request, body []byte, certificate string, session ed25519.PrivateKey) {
	request.Header.Set("Authorization", "GC-Session "+certificate)
	names := []string{"authorization", "content-type", "idempotency-key"}
	if len(body) > 0 {
		sum := sha256.Sum256(body)
		request.Header.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		names = append(names, "content-digest")
	}
	at := request.URL
	quoted := []string{`"@method"`, `"@authority"`, `"@path"`, `"@query"`}
	lines := []string{`"@method": ` + request.Method, `"@authority": ` + strings.ToLower(at.Host), `"@path": ` + at.EscapedPath(),
		`"@query": ?` + at.RawQuery}
	for _, name := range names {
		if value := request.Header.Get(name); value != "" {
			quoted, lines = append(quoted, `"`+name+`"`), append(lines, `"`+name+`": `+value)
		}
	}
	now := time.Now().Unix()
	parameters := fmt.Sprintf(`(%s);created=%d;expires=%d;nonce="%s";keyid="%s";alg="ed25519";tag="agents-worker-v1"`,
		strings.Join(quoted, " "), now, now+60, random(), thumbprint(session))
	base := strings.Join(append(lines, `"@signature-params": `+parameters), "\n")
	request.Header.Set("Signature-Input", "gc="+parameters)
	request.Header.Set("Signature", "gc=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(session, []byte(base)))+":")
}

func main() {
	file, origin, agent, text := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	content, err := os.ReadFile(file)
	check(err)
	var issuer issuerFile
	check(json.Unmarshal(content, &issuer))
	_, session, err := ed25519.GenerateKey(rand.Reader) // one for each session
	check(err)
	certificate := certify(issuer, session, object{"sub": "ada", "tenant": "acme", "agents": []string{agent}, "scope": "run:create run:read"})
	message := object{"id": random(), "role": "user", "parts": []object{{"type": "text", "text": text}}}
	body := compact(object{"agentId": agent, "chat": object{"id": random(), "messages": []object{message}}})
	address, err := url.Parse(origin + "/v1/runs")
	check(err)
	request, err := http.NewRequest("POST", address.String(), bytes.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", `"`+random()+`"`)
	sign(request, body, certificate, session)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	_, err = io.Copy(os.Stdout, response.Body) // server-sent events
	check(err)
}
