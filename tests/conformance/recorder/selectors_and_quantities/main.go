// Command selectors_and_quantities records what Kubernetes itself makes of many label selectors,
// field selectors and quantities, so that Reflet's own reading of them can be compared.
//
//	go run . ../../data
//
// writes label_selectors.json, field_selectors.json and quantities.json into the folder named.
// The same program always writes the same bytes.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
)

const source = "k8s.io/apimachinery v0.36.4"

// A recording is one file: where it comes from, and named lists of cases, one case a line.
type recording struct {
	order []string
	lists map[string][]any
}

func (r *recording) add(list string, value any) {
	if r.lists == nil {
		r.lists = map[string][]any{}
	}
	if _, known := r.lists[list]; !known {
		r.order = append(r.order, list)
	}
	r.lists[list] = append(r.lists[list], value)
}

func (r *recording) write(path string) {
	var out bytes.Buffer
	out.WriteString("{\n\"source\": ")
	out.Write(line(source))
	for _, list := range r.order {
		out.WriteString(",\n")
		out.Write(line(list))
		out.WriteString(": [\n")
		for index, value := range r.lists[list] {
			if index > 0 {
				out.WriteString(",\n")
			}
			out.Write(line(value))
		}
		out.WriteString("\n]")
	}
	out.WriteString("\n}\n")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func line(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		log.Fatal(err)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// distinct keeps the first of equal texts.
func distinct(texts []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			kept = append(kept, text)
		}
	}
	return kept
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . FOLDER")
	}
	folder := os.Args[1]
	recordLabelSelectors().write(filepath.Join(folder, "label_selectors.json"))
	recordFieldSelectors().write(filepath.Join(folder, "field_selectors.json"))
	recordQuantities().write(filepath.Join(folder, "quantities.json"))
}
