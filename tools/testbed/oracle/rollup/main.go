// Command rollup adds up the demand of many CapacityRequests the way an operator in Go does: typed
// objects in a cache, listed with deep copies, quantities added by apimachinery.
//
// Its arguments are a file with one CapacityRequest a line, as JSON, and how often to do it. It
// prints {"needs": 12, "digest": "…", "rollupMs": […]}: the digest is over what the needs come to,
// so that somebody else's sum can be compared.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type answer struct {
	Needs    int       `json:"needs"`
	Digest   string    `json:"digest"`
	RollupMs []float64 `json:"rollupMs"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: rollup FILE TIMES"))
	}
	cache, err := load(os.Args[1])
	if err != nil {
		fail(err)
	}
	times, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	told := answer{}
	var needs map[string]*need
	for turn := 0; turn <= times; turn++ {
		start := time.Now()
		needs = addUp(list(cache))
		if turn > 0 { // The first one warms up.
			told.RollupMs = append(told.RollupMs, float64(time.Since(start).Microseconds())/1000)
		}
	}
	told.Needs = len(needs)
	told.Digest = digest(needs)
	if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
		fail(err)
	}
}

func load(path string) (map[string]*CapacityRequest, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<24)
	cache := map[string]*CapacityRequest{}
	for lines.Scan() {
		request := &CapacityRequest{}
		if err := json.Unmarshal(bytes.Clone(lines.Bytes()), request); err != nil {
			return nil, err
		}
		cache[request.Namespace+"/"+request.Name] = request
	}
	return cache, lines.Err()
}

// list gives deep copies, as a cached client's List does.
func list(cache map[string]*CapacityRequest) []CapacityRequest {
	requests := make([]CapacityRequest, 0, len(cache))
	for _, request := range cache {
		requests = append(requests, *request.DeepCopy())
	}
	return requests
}

// need is what equal requests come to.
type need struct {
	requests     int
	priority     int32
	interruption int
	reclamation  int
	aggregate    ResourceList
	minUnit      ResourceList
}

func addUp(requests []CapacityRequest) map[string]*need {
	needs := map[string]*need{}
	for i := range requests {
		request := &requests[i]
		interruption := bucket(request.Spec.InterruptionPenalty)
		reclamation := bucket(request.Spec.ReclamationPenalty)
		key := keyOf(request, interruption, reclamation)
		into := needs[key]
		if into == nil {
			into = &need{
				priority:     request.Spec.Priority,
				interruption: interruption,
				reclamation:  reclamation,
				aggregate:    ResourceList{},
				minUnit:      ResourceList{},
			}
			needs[key] = into
		}
		into.requests++
		for name, quantity := range request.Spec.Resources {
			sum := into.aggregate[name]
			sum.Add(quantity)
			into.aggregate[name] = sum
			if most, ok := into.minUnit[name]; !ok || quantity.Cmp(most) > 0 {
				into.minUnit[name] = quantity
			}
		}
	}
	return needs
}

// keyOf is equal for requests that are one need.
func keyOf(request *CapacityRequest, interruption, reclamation int) string {
	var key strings.Builder
	requirements := make([]string, 0, len(request.Spec.Requirements))
	for _, requirement := range request.Spec.Requirements {
		values := slices.Clone(requirement.Values)
		slices.Sort(values)
		values = slices.Compact(values)
		requirements = append(requirements,
			requirement.Key+" "+requirement.Operator+" "+strings.Join(values, ","))
	}
	slices.Sort(requirements)
	key.WriteString(strings.Join(requirements, ";"))
	fmt.Fprintf(&key, "|%d|%d|%d|", request.Spec.Priority, interruption, reclamation)
	for _, spread := range request.Spec.TopologySpread {
		if spread.WhenUnsatisfiable == "DoNotSchedule" {
			fmt.Fprintf(&key, "%s %d;", spread.TopologyKey, spread.MaxSkew)
		}
	}
	if group := request.Spec.CoLocation; group != nil {
		fmt.Fprintf(&key, "|%s/%s/", request.Namespace, group.TopologyKey)
		labels := make([]string, 0, len(group.LabelSelector.MatchLabels))
		for label, value := range group.LabelSelector.MatchLabels {
			labels = append(labels, label+"="+value)
		}
		slices.Sort(labels)
		key.WriteString(strings.Join(labels, ","))
	}
	return key.String()
}

// bucket rounds dollars up: 0 for none given, 1 for $0, 2 for $0.50, then powers of two.
func bucket(dollars *resource.Quantity) int {
	if dollars == nil {
		return 0
	}
	milli := dollars.MilliValue()
	switch {
	case milli <= 0:
		return 1
	case milli <= 500:
		return 2
	}
	number := 3
	for ceiling := int64(1000); milli > ceiling && number < 27; ceiling *= 2 {
		number++
	}
	return number
}

func digest(needs map[string]*need) string {
	lines := make([]string, 0, len(needs))
	for _, one := range needs {
		lines = append(lines, fmt.Sprintf("%d %d %d %d %s %s", one.requests, one.priority,
			one.interruption, one.reclamation, amounts(one.aggregate), amounts(one.minUnit)))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

func amounts(list ResourceList) string {
	texts := make([]string, 0, len(list))
	for name, quantity := range list {
		// The value and not its spelling, which depends on what was added first.
		nanos := new(inf.Dec).Round(quantity.AsDec(), 9, inf.RoundExact)
		texts = append(texts, name+"="+nanos.UnscaledBig().String())
	}
	slices.Sort(texts)
	return strings.Join(texts, ",")
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "rollup:", err)
	os.Exit(1)
}
