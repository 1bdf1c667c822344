package main

import (
	"math/rand"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
)

var fieldSets = []fields.Set{
	{},
	{"metadata.name": "web"},
	{"metadata.name": "a,b=c\\d", "metadata.namespace": "shop"},
	{"metadata.name": "", "spec.nodeName": "node-1"},
	{"a": "b", "c": "d"},
	{"a": "", "": "v"},
	{"a\\": "b", "a!b": "c", "a b": " d"},
}

var fieldTexts = []string{
	"", ",", ",,", "=", "!=", "==", "=v", "!=v", "==v", "a", "a,b", "a=b", "a==b", "a!=b", "a===b", "a!==b", "a=!b", "a!b=c", "a!b", "a=", "a==", "a!=",
	"a=b,c=d", "c=d,a=b", "a=b,", ",a=b", "a=b,,c=d", "a=b,a=b", "a=b,a!=d", "a=b,c", "a b= d", " a=b", "a=b ", "a = b",
	"metadata.name=web", "metadata.name==web", "metadata.name!=web", "metadata.namespace=shop,metadata.name=web", "spec.nodeName=node-1,metadata.name=",
	`metadata.name=a\,b\=c\\d`, `metadata.name!=a\,b\=c\\d`, `a=\\`, `a=\,`, `a=\=`, `a=\`, `a=b\`, `a=\b`, `a=\\\`, `a=\\\\`, `a=\ `, `a=\n`, `a=b\,c`, `a=b\,c,d=e`,
	`a=b=c`, `a=b\=c`, `a==b=c`, `a!=b=c`, `a\=b`, `a\,b=c`, `\a=b`, `\=b`, `\,=b`, `a\`, `\`, `\\`, `a=b,\`, `a=b\\,c=d`, `a=b\\\,c=d`, "a=é", "é=a", `a=\é`,
	"a=b,c!=d,e==f", "e==f,c!=d,a=b", "a!=z,a==b", "z=1,y=2,x=3", "a=<>", "a in (x)", "a>1", "!a", "a=b\nc=d", "a=\t", "b=2,a=1,B=3", "=,a=b", "!=,a!=b",
	"a=" + strings.Repeat("x", 300),
}

func randomFieldTexts(count int) []string {
	random := rand.New(rand.NewSource(37))
	tokens := []string{"a", "b", "metadata.name", "=", "=", "==", "!=", ",", `\`, `\,`, `\=`, `\\`, "x", "!", " "}
	var texts []string
	for len(texts) < count {
		var text strings.Builder
		if len(texts)%2 == 0 {
			for range 1 + random.Intn(7) {
				text.WriteString(tokens[random.Intn(len(tokens))])
			}
		} else {
			for range 1 + random.Intn(3) {
				if text.Len() > 0 {
					text.WriteString(",")
				}
				text.WriteString([]string{"a", "b", "metadata.name"}[random.Intn(3)])
				text.WriteString([]string{"=", "!="}[random.Intn(2)])
				text.WriteString(fields.EscapeValue([]string{"", "b", "web", "a,b=c\\d", "x=y", "\\"}[random.Intn(6)]))
			}
		}
		texts = append(texts, text.String())
	}
	return texts
}

type fieldCase struct {
	Text      string `json:"text"`
	Valid     bool   `json:"valid"`
	Canonical string `json:"canonical,omitempty"`
	// One letter a field set, in the order of field_sets.
	Matches string `json:"matches,omitempty"`
	// What the selector demands of field "a" and of "metadata.name"; absent when it demands nothing.
	Exact map[string]string `json:"exact,omitempty"`
}

type escapeCase struct {
	Name     string `json:"name"`
	Selector string `json:"selector"`
}

func recordFieldSelectors() *recording {
	result := &recording{}
	for _, set := range fieldSets {
		result.add("field_sets", set)
	}
	for _, text := range distinct(append(fieldTexts, randomFieldTexts(200)...)) {
		entry := fieldCase{Text: text}
		if selector, err := fields.ParseSelector(text); err == nil {
			entry.Valid, entry.Canonical = true, selector.String()
			for _, set := range fieldSets {
				entry.Matches += letter(selector.Matches(set))
			}
			for _, field := range []string{"a", "metadata.name"} {
				if value, found := selector.RequiresExactMatch(field); found {
					if entry.Exact == nil {
						entry.Exact = map[string]string{}
					}
					entry.Exact[field] = value
				}
			}
		}
		result.add("texts", entry)
	}
	for _, name := range []string{"", "web", "a,b", "a=b", `a\b`, `\,=`, "a b", "é", "a!=b"} {
		result.add("one_object", escapeCase{name, fields.OneTermEqualSelector("metadata.name", name).String()})
	}
	return result
}
