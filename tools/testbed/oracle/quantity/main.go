// Command quantity says what Kubernetes' own quantity arithmetic makes of its input.
//
// Every line of stdin is a JSON array of quantity strings. Every line of stdout is a JSON object:
// for one quantity its canonical form, for several their sum, added from left to right to an empty
// quantity, as {"canonical": "1536Mi", "nanos": "1610612736000000000"}; where an element is no
// quantity, {"error": "…", "index": 0}. nanos is the value times 10⁹, exact, as an integer.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type answer struct {
	Canonical string `json:"canonical,omitempty"`
	Nanos     string `json:"nanos,omitempty"`
	Error     string `json:"error,omitempty"`
	Index     *int   `json:"index,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	printer := json.NewEncoder(out)
	for lines.Scan() {
		if err := printer.Encode(answerTo(lines.Bytes())); err != nil {
			fail(err)
		}
		// A caller that asks line by line waits for each answer.
		if err := out.Flush(); err != nil {
			fail(err)
		}
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

func answerTo(line []byte) answer {
	var texts []string
	if err := json.Unmarshal(line, &texts); err != nil {
		return answer{Error: fmt.Sprintf("the line is no JSON array of strings: %v", err)}
	}
	var sum resource.Quantity
	for index, text := range texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return answer{Error: err.Error(), Index: &index}
		}
		if len(texts) == 1 {
			return told(quantity)
		}
		sum.Add(quantity)
	}
	return told(sum)
}

func told(quantity resource.Quantity) answer {
	nanos := new(inf.Dec).Mul(quantity.AsDec(), inf.NewDec(1, -9))
	canonical := quantity.String()
	return answer{Canonical: canonical, Nanos: nanos.Round(nanos, 0, inf.RoundExact).String()}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "quantity:", err)
	os.Exit(1)
}
