// Command resource_fields records what the kubelet's own code shows for limits and requests
// (resourceFieldRef), above all for amounts at the ends of what its integers and floating point
// numbers can hold.
//
//	go run . ../../data
//
// writes resource_fields.json into the folder named. The same program always writes the same bytes
// on amd64; other processors turn numbers that do not fit into other integers.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/kubernetes/pkg/api/v1/resource"
)

const source = "k8s.io/kubernetes v1.36.4, amd64"

var amounts = strings.Fields(`
	0 1n 1m 250m 999m 1001m 1500m 1 1.5 3 16 1023 1025 1Mi 100Mi 1.5Gi 61255492Ki 129e6
	9007199254740991 9007199254740992 9007199254740993 9007199254740993m 9007199254740993n 9007199254740995
	18014398509481985 9007199254740993Ki 7999999999999999Ki 1Pi 1.000000000000000001Pi 1234567890123457k
	999999999999999999 1234567890123456789 9223372036854775295 9223372036854775296 9223372036854775807
	9223372036854775808 18446744073709551616 18446744073709551617 123456789012345678901234567890
	9223372036854775807m 9223372036854775808m 9223372036854775807n 9223372036854775808n 9223372036854775.807
	9223372036854776 9223372036854775807k 1Ei 4Ei 7Ei 8Ei 9E 10E 20E 999E 12345678912G 18446744075G 922337203686P 12345P
	9223372036854777k 9223372036854775807e3 1e18 1e19 1e21 15e18 18446745e12 123456789e30
	-1n -1m -1500m -1 -1.5 -3 -1Gi -1Ei -8Ei -9007199254740993 -9223372036854775807 -9223372036854775808
	-9223372036854775809 -18446744073709551617 -9223372036854775808n -20E -12345678912G -1e21
`)

// The divisors that a server accepts, for cpu and for the rest, and after them some that it does not.
var divisors = map[string][]string{
	"cpu":    strings.Fields("0 1m 1 3m 250m 1k 1n 1E 9007199254740993 -1 -1m"),
	"memory": strings.Fields("0 1 1k 1E 1Ki 1Mi 1Ei 1m 3 10E 12345678912G -1Ki"),
}

var samples = []string{"9007199254740993", "1.5Gi", "20E", "-1500m"}

type resourceCase struct {
	Resource string `json:"resource"`
	Amount   string `json:"amount"`
	Divisor  string `json:"divisor"`
	Expect   string `json:"expect"`
}

// stored is the quantity as it reads after a server kept its text.
func stored(text string) resource.Quantity {
	given := resource.MustParse(text)
	return resource.MustParse(given.String())
}

func record(name v1.ResourceName, amount, divisor string) resourceCase {
	container := &v1.Container{Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{name: stored(amount)},
	}}
	selector := &v1.ResourceFieldSelector{Resource: "requests." + string(name), Divisor: stored(divisor)}
	shown, err := helpers.ExtractContainerResourceValue(selector, container)
	if err != nil {
		log.Fatal(err)
	}
	return resourceCase{selector.Resource, amount, divisor, shown}
}

func randomAmounts(count int) []string {
	random := rand.New(rand.NewSource(53))
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e6", "e-6"}
	var texts []string
	for len(texts) < count {
		sign := []string{"", "", "", "-"}[random.Intn(4)]
		digits := fmt.Sprint(random.Int63() >> random.Intn(60))
		texts = append(texts, sign+digits+suffixes[random.Intn(len(suffixes))])
	}
	return texts
}

func recordAll() []resourceCase {
	var cases []resourceCase
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		for _, amount := range amounts {
			for _, divisor := range divisors[string(name)] {
				cases = append(cases, record(name, amount, divisor))
			}
		}
		for index, amount := range randomAmounts(120) {
			choice := divisors[string(name)]
			cases = append(cases, record(name, amount, choice[index%len(choice)]))
		}
	}
	for _, name := range []v1.ResourceName{v1.ResourceEphemeralStorage, v1.ResourceHugePagesPrefix + "2Mi"} {
		for _, amount := range samples {
			for _, divisor := range []string{"0", "1", "1Mi"} {
				cases = append(cases, record(name, amount, divisor))
			}
		}
	}
	return cases
}

func line(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	return string(text)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . FOLDER")
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n\"source\": %s,\n\"cases\": [\n", line(source))
	for index, one := range recordAll() {
		if index > 0 {
			out.WriteString(",\n")
		}
		out.WriteString(line(one))
	}
	out.WriteString("\n]\n}\n")
	if err := os.WriteFile(filepath.Join(os.Args[1], "resource_fields.json"), out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
