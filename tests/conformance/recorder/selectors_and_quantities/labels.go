package main

import (
	"math/rand"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var labelSets = []labels.Set{
	{},
	{"a": ""},
	{"a": "x"},
	{"a": "y", "b": "x"},
	{"a": "in", "in": "notin", "notin": "in"},
	{"a": "1", "b": "2"},
	{"a": "10"},
	{"a": "-3"},
	{"a": "+3"},
	{"a": "007"},
	{"a": "1.5"},
	{"a": "9223372036854775807"},
	{"a": "9223372036854775808"},
	{"b": "x", "c": "", "example.com/tier": "front"},
}

var labelTexts = []string{
	"", " ", "\t\r\n", "a", " a ", "!a", "! a", "!!a", "a!", "!", "a,b", "a,!b", "!a,b", "a, b ,c", ",", "a,", ",a", "a,,b",
	"a=x", "a==x", "a!=x", "a===x", "a=!x", "a!==x", "a = x", "a == x", "a != x", "a\t=\nx", "a=", "a==", "a!=", "a=,b", "a!=,b",
	"a= ,b=x", "=x", "==x", "!=x", "!a=x", "!a in (x)", "a=x y", "a=(x)", "a=)", "a=x,", "a=x,b=y", "b=x,a=y", "a=x,a=y", "a=x,a=x",
	"a in (x)", "a in (x,y)", "a in (y,x)", "a in ( x , y )", "a in(x)", "a in (x,x)", "a in (x y)", "a in (x,", "a in (x", "a in (", "a in",
	"a in ()", "a in (,)", "a in (,,)", "a in (x,)", "a in (,x)", "a in (x,,y)", "a in (x,,)", "a in ( )", "a in )", "a in x", "a in (x))",
	"a in ((x)", "a in (x),b", "a in (x) b", "a in (in)", "a in (notin,in)", "a in (=)", "a in (x=y)", "a in (!x)", "a in (a in (x))",
	"a notin (x)", "a notin (y,x)", "a notin ()", "a notin (,)", "a notin", "a notin x", "a not in (x)", "a NOTIN (x)", "a IN (x)",
	"a inn (x)", "in", "notin", "!in", "!notin", "in in (in)", "notin notin (notin)", "in=in", "in==notin", "a=in", "a=notin", "a!=in",
	"in,notin", "in notin (x)", "notin in (x)", "in in", "in (x)", "notin (x)", "a in in", "a in notin (x)",
	"a>1", "a<2", "a > 1", "a < 20", "a>007", "a>", "a<", "a>x", "a>1.5", "a>-1", "a>+1", "a>1,a<10", "a>9223372036854775806",
	"a>9223372036854775807", "a>9223372036854775808", "a<9223372036854775807", "a>=1", "a<=1", "a>>1", "a<>1", "a>1_000", "a>0x10", "a>(1)", "!a>1",
	"a b", "a b=c", "(a)", ")", "(", "a(", "a(x)", "a)", "<1", ">1",
	"example.com/a", "example.com/a=x", "example.com/a in (x)", "Example.com/a", "example..com/a", "/a", "example.com/", "a/b/c", "-a", "a-", "_a", "a_", ".a", "a.",
	"a-b_c.d", "A", "0", "9a", "a/b", "a.b/c", "-x/a", "x-/a", "é", "a=é", "a=x/y", "a=-x", "a=x-", "a=x_y.z", "a=.", "a=_", "a=*", "*", "a:b", "a=\"x\"", "a='x'", "a\u00a0=x", "a=x;b=y", "a&b",
	"x in (a,b,c), y!=d, !z, w", "z,y,x,w", "z=1,z=2,y", "environment in (production, qa),tier notin (frontend, backend)", "partition,environment notin (qa)",
	strings.Repeat("a", 63), strings.Repeat("a", 64), "a=" + strings.Repeat("x", 63), "a=" + strings.Repeat("x", 64),
	"a in (" + strings.Repeat("x", 64) + ")", strings.Repeat("a", 253) + "/b", strings.Repeat("a", 254) + "/b",
	strings.Repeat("abcdefg.", 31) + "abcde/b", strings.Repeat("abcdefg.", 31) + "abcdef/b", "example.com/" + strings.Repeat("a", 63), "example.com/" + strings.Repeat("a", 64),
}

// randomLabelTexts strings tokens together, so that most texts are nearly right.
func randomLabelTexts(count int) []string {
	random := rand.New(rand.NewSource(36))
	tokens := []string{"a", "b", "in", "notin", "(", ")", ",", "=", "==", "!=", "!", ">", "<", "1", "x", " ", " "}
	shapes := []string{"a", "!b", "a=x", "b==x", "a!=y", "a in (x, y)", "b notin (,x)", "a>1", "in", "c notin ()", "notin!=in", "b<7"}
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
					text.WriteString([]string{",", ", ", " ,"}[random.Intn(3)])
				}
				text.WriteString(shapes[random.Intn(len(shapes))])
			}
		}
		texts = append(texts, text.String())
	}
	return texts
}

type labelCase struct {
	Text      string `json:"text"`
	Valid     bool   `json:"valid"`
	Canonical string `json:"canonical,omitempty"`
	// One letter a label set, in the order of label_sets: y when it matches, n when not.
	Matches string `json:"matches,omitempty"`
}

func labelMatches(selector labels.Selector) string {
	var out strings.Builder
	for _, set := range labelSets {
		out.WriteString(letter(selector.Matches(set)))
	}
	return out.String()
}

func letter(matches bool) string {
	if matches {
		return "y"
	}
	return "n"
}

type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type structCase struct {
	MatchLabels      map[string]string `json:"match_labels"`
	MatchExpressions []expression      `json:"match_expressions"`
	Valid            bool              `json:"valid"`
	Canonical        string            `json:"canonical,omitempty"`
	Matches          string            `json:"matches,omitempty"`
}

func structCases() []structCase {
	var cases []structCase
	for _, operator := range []string{"In", "NotIn", "Exists", "DoesNotExist", "in", "Gt", "=", ""} {
		for _, values := range [][]string{nil, {"x"}, {"y", "x"}, {""}, {"no good"}} {
			cases = append(cases, structCase{MatchExpressions: []expression{{"a", operator, values}}})
		}
	}
	return append(cases,
		structCase{},
		structCase{MatchLabels: map[string]string{"a": "x"}},
		structCase{MatchLabels: map[string]string{"b": "x", "a": "y"}},
		structCase{MatchLabels: map[string]string{"a": ""}},
		structCase{MatchLabels: map[string]string{"a": "no good"}},
		structCase{MatchLabels: map[string]string{"no good": "a"}},
		structCase{MatchLabels: map[string]string{"b": "x"}, MatchExpressions: []expression{{"a", "Exists", nil}, {"c", "DoesNotExist", nil}}},
		structCase{MatchLabels: map[string]string{"a": "x"}, MatchExpressions: []expression{{"a", "NotIn", []string{"y"}}}},
		structCase{MatchExpressions: []expression{{"-a", "Exists", nil}}},
	)
}

func recordLabelSelectors() *recording {
	result := &recording{}
	for _, set := range labelSets {
		result.add("label_sets", set)
	}
	for _, text := range distinct(append(labelTexts, randomLabelTexts(300)...)) {
		entry := labelCase{Text: text}
		if selector, err := labels.Parse(text); err == nil {
			entry.Valid, entry.Canonical, entry.Matches = true, selector.String(), labelMatches(selector)
		}
		result.add("texts", entry)
	}
	for _, entry := range structCases() {
		form := metav1.LabelSelector{MatchLabels: entry.MatchLabels}
		for _, e := range entry.MatchExpressions {
			form.MatchExpressions = append(form.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: e.Values,
			})
		}
		if selector, err := metav1.LabelSelectorAsSelector(&form); err == nil {
			entry.Valid, entry.Canonical, entry.Matches = true, selector.String(), labelMatches(selector)
		}
		result.add("struct_forms", entry)
	}
	return result
}
