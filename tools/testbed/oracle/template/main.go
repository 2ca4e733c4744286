// Command template renders with Go's own text/template engine.
//
// Every line of stdin is {"name": "…", "template": "…", "data": …}; every line of stdout is
// {"output": "…"} or {"error": "…"}, and with an error the output that came before it. Whole JSON
// numbers become int and others float64. With "context": "bootstrap" the data becomes the struct
// that bootstrap templates see, so that an unknown field is an error. Rendering that gives too much
// or takes too long is an error that starts with "oracle:".
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"tidegate.dev/testbed/oracle/template/operator"
)

type question struct {
	Name     string          `json:"name"`
	Template string          `json:"template"`
	Data     json.RawMessage `json:"data"`
	Context  string          `json:"context"`
}

type answer struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	printer := json.NewEncoder(out)
	printer.SetEscapeHTML(false)
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
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: fmt.Sprintf("the line is no question: %v", err)}
	}
	if asked.Name == "" {
		asked.Name = "template"
	}
	data, err := dataOf(asked)
	if err != nil {
		return answer{Error: fmt.Sprintf("the data cannot be read: %v", err)}
	}
	parsed, err := template.New(asked.Name).Parse(asked.Template)
	if err != nil {
		return answer{Error: err.Error()}
	}
	answers := make(chan answer, 1)
	go func() { answers <- render(parsed, data) }()
	select {
	case done := <-answers:
		return done
	case <-time.After(patience):
		return answer{Error: "oracle: took too long"}
	}
}

func render(parsed *template.Template, data any) answer {
	output := boundedBuilder{deadline: time.Now().Add(patience)}
	if err := parsed.Execute(&output, data); err != nil {
		return answer{Output: output.String(), Error: err.Error()}
	}
	return answer{Output: output.String()}
}

// The longest a rendering may take, and the most it may give.
const (
	patience    = 3 * time.Second
	outputLimit = 1 << 21
)

// boundedBuilder collects output up to the limits, so that an endless rendering ends.
type boundedBuilder struct {
	strings.Builder
	deadline time.Time
}

func (b *boundedBuilder) Write(bytes []byte) (int, error) {
	if b.Len()+len(bytes) > outputLimit || time.Now().After(b.deadline) {
		return 0, errors.New("oracle: too much output")
	}
	return b.Builder.Write(bytes)
}

func dataOf(asked question) (any, error) {
	if asked.Context == "bootstrap" {
		var context operator.BootstrapRendererInput
		err := json.Unmarshal(asked.Data, &context)
		return context, err
	}
	if len(asked.Data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(asked.Data)))
	decoder.UseNumber()
	var data any
	err := decoder.Decode(&data)
	return withNumbers(data), err
}

func withNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := strconv.Atoi(value.String()); err == nil {
			return whole
		}
		float, _ := value.Float64()
		return float
	case map[string]any:
		for key, inner := range value {
			value[key] = withNumbers(inner)
		}
	case []any:
		for index, inner := range value {
			value[index] = withNumbers(inner)
		}
		// What append left over behind the last element is no part of the data.
		return slices.Clip(value)
	}
	return value
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "template:", err)
	os.Exit(1)
}
