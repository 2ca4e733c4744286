// Command certificates makes short-lived X.509 certificates for tests.
//
// stdin is one JSON object, or several, each a request; stdout has one line for each:
//
//	{"commonName": "fleet CA", "isCA": true, "notAfterSeconds": 3600}
//	{"commonName": "operator", "dns": ["localhost"], "ips": ["127.0.0.1"],
//	 "uris": ["bigfleet://cluster/alpha"], "usages": ["client", "server"], "notAfterSeconds": 3600,
//	 "issuerCert": "<PEM>", "issuerKey": "<PEM>"}
//
// answers {"cert": "<PEM>", "key": "<PEM>"}, or {"error": "…"}. Without an issuer the certificate
// signs itself. Keys are ECDSA P-256. notBeforeSeconds counts from now and defaults to -60;
// notAfterSeconds defaults to one day; usages default to both. A negative notAfterSeconds makes a
// certificate that has expired, which needs an earlier notBeforeSeconds.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"time"
)

type request struct {
	CommonName       string   `json:"commonName"`
	IsCA             bool     `json:"isCA"`
	DNS              []string `json:"dns"`
	IPs              []string `json:"ips"`
	URIs             []string `json:"uris"`
	Usages           []string `json:"usages"`
	NotBeforeSeconds *int64   `json:"notBeforeSeconds"`
	NotAfterSeconds  *int64   `json:"notAfterSeconds"`
	IssuerCert       string   `json:"issuerCert"`
	IssuerKey        string   `json:"issuerKey"`
}

type answer struct {
	Cert  string `json:"cert,omitempty"`
	Key   string `json:"key,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	printer := json.NewEncoder(os.Stdout)
	for {
		var asked request
		err := requests.Decode(&asked)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "certificates:", err)
			os.Exit(1)
		}
		made, err := certificate(asked)
		if err != nil {
			made = answer{Error: err.Error()}
		}
		if err := printer.Encode(made); err != nil {
			fmt.Fprintln(os.Stderr, "certificates:", err)
			os.Exit(1)
		}
	}
}

func certificate(asked request) (answer, error) {
	template, err := templateOf(asked)
	if err != nil {
		return answer{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return answer{}, err
	}
	issuer, issuerKey := template, key
	if asked.IssuerCert != "" {
		issuer, issuerKey, err = issuerOf(asked)
		if err != nil {
			return answer{}, err
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		return answer{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return answer{}, err
	}
	return answer{Cert: block("CERTIFICATE", der), Key: block("PRIVATE KEY", keyDER)}, nil
}

func templateOf(asked request) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: asked.CommonName},
		NotBefore:             fromNow(asked.NotBeforeSeconds, -time.Minute),
		NotAfter:              fromNow(asked.NotAfterSeconds, 24*time.Hour),
		DNSNames:              asked.DNS,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
	if asked.IsCA {
		template.IsCA = true
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	} else if template.ExtKeyUsage, err = usagesOf(asked.Usages); err != nil {
		return nil, err
	}
	for _, text := range asked.IPs {
		address := net.ParseIP(text)
		if address == nil {
			return nil, fmt.Errorf("%q is no IP address", text)
		}
		template.IPAddresses = append(template.IPAddresses, address)
	}
	for _, text := range asked.URIs {
		uri, err := url.Parse(text)
		if err != nil {
			return nil, err
		}
		template.URIs = append(template.URIs, uri)
	}
	return template, nil
}

func fromNow(seconds *int64, otherwise time.Duration) time.Time {
	if seconds == nil {
		return time.Now().Add(otherwise)
	}
	return time.Now().Add(time.Duration(*seconds) * time.Second)
}

func usagesOf(names []string) ([]x509.ExtKeyUsage, error) {
	if len(names) == 0 {
		names = []string{"client", "server"}
	}
	var usages []x509.ExtKeyUsage
	for _, name := range names {
		switch name {
		case "client":
			usages = append(usages, x509.ExtKeyUsageClientAuth)
		case "server":
			usages = append(usages, x509.ExtKeyUsageServerAuth)
		default:
			return nil, fmt.Errorf("%q is no usage: take client or server", name)
		}
	}
	return usages, nil
}

func issuerOf(asked request) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certBlock, _ := pem.Decode([]byte(asked.IssuerCert))
	keyBlock, _ := pem.Decode([]byte(asked.IssuerKey))
	if certBlock == nil || keyBlock == nil {
		return nil, nil, errors.New("issuerCert and issuerKey must both be PEM")
	}
	issuer, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, errors.New("issuerKey is no ECDSA key")
	}
	return issuer, key, nil
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
