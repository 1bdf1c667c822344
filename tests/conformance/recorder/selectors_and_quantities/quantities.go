package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

var quantityTexts = []string{
	"0", "1", "-1", "+1", "10", "100", "1000", "1024", "1023", "1500", "999999", "1000000", "123456789", "0001", "+0", "-0", "00", "0.0", "-0.0",
	"500m", "1500m", "1000m", "1m", "-1m", "100m", "0m", "0Ki", "0e5", "1u", "1000u", "1n", "1000n", "999n", "1k", "1000k", "1M", "1G", "1T", "1P", "1E", "12E", "1000E", "1000000E",
	"1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "7Ei", "8Ei", "12Ei", "-12Ei", "1023Ki", "1024Ki", "1025Ki", "2048Mi", "1.5Gi", "0.5Ki", "0.5Mi", "0.1Ki", "0.1Gi", "100.035Ki", "0.001Ki", "0.0001Ki", "-0.0001Ki", "-1.5Gi", "1.1Ki", ".5Mi", "1.Gi",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775807Ki", "9223372036854775807k", "99999999999999999999", "123456789012345678901234567890", "100000000000000000001", "0.123456789012345678901234567890",
	"1e3", "1E3", "1e+3", "1e-3", "1E-3", "1e0", "1e1", "1e2", "1e4", "1e5", "1.5e3", "12e6", "1e18", "1e19", "1e21", "1e30", "1e100", "1e-9", "1e-10", "1e-30", "1e-100", "123e-9", "0.5e-9", "1.1E-9", "-1e3", "-1e-10", "1000e3", "0.001e6", "1e03", "1e-03",
	".5", "0.5", "1.5", "1.50", "1.500", "1.123", "1.0", "1.", "-.5", "+.5", "0.1", "0.01", "0.001", "0.0001", "0.0000000001", "0.1n", "0.9n", "1.1n", "3.001n", "-0.1n", "-1.1n", "0.1m", "0.00000012345", "0.10", "10.10", "1.5m", "1.5k", "1.5M", "2.5P", "1.01E", "100.035k",
	"+", "-", ".", "-.", "+.", "m", "Ki", "e3", "E", "-m", ".Ki", "n", "e-9", "e-10", "+e-10", ".e-10", "0e-10", ".0e-10",
	"", " ", " 1", "1 ", "1 Gi", "\t1", "1\n", "a", "aoeu", "1i", ".5i", "-3.01i", "1mi", "0.1mi", "1gi", "1K", "1KI", "1kI", "1ki", "1g", "1t", "1p", "1Zi", "1Y", "1am", "0.1am", "1.1.M", "1..", "..1", "1.2.3", "1+1", "1-1", "1+1.0M", "--1", "++1", "+-1", "1e", "1e+", "1e-", "-3.01e-", "1ee3", "1e3.5", "1e3m", "1Ee3", "1m3", "1Ki3", "1_000", "1,000", "0x10", "1e1_0", "NaN", "Infinity", "inf", "١", "1²", "½", "1µ", "1mm", "1Kii", "1e99999999999999999999", "null", "\"1\"", "1e 3", "1/2", "50%",
	"100Mi", "128Mi", "256Mi", "512Mi", "4Gi", "250m", "750m", "0.25", "2", "3.2", "64Gi", "110", "1843200Ki", "16393240Ki", "1e6", "129e6", "129M", "128974848", "128974848000m", "123Mi", "61255492Ki", "3920m", "47.1Gi", "1.2Ti",
}

func randomQuantityTexts(count int) []string {
	random := rand.New(rand.NewSource(38))
	suffixes := []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-5", "e7", "e+12", "e-11"}
	var texts []string
	for len(texts) < count {
		sign := []string{"", "", "", "-", "+"}[random.Intn(5)]
		number := fmt.Sprint(random.Int63n(int64(math.Pow10(1 + random.Intn(17)))))
		if random.Intn(3) == 0 {
			place := random.Intn(len(number) + 1)
			number = number[:place] + "." + number[place:]
		}
		texts = append(texts, sign+number+suffixes[random.Intn(len(suffixes))])
	}
	return texts
}

type quantityCase struct {
	Text      string `json:"text"`
	Valid     bool   `json:"valid"`
	Canonical string `json:"canonical,omitempty"`
	Format    string `json:"format,omitempty"`
	// The exact number, as a decimal.
	Number string `json:"number,omitempty"`
	// What Value and MilliValue answer; absent when the true answer does not fit their type, and for
	// negative amounts of arbitrary precision, for which they overflow and round the other way.
	Value      *int64 `json:"value,omitempty"`
	MilliValue *int64 `json:"milli_value,omitempty"`
}

func canonical(quantity resource.Quantity) string {
	number, suffix := quantity.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

// answers tells whether Value (factor 1) or MilliValue (factor 1000) has a meaningful answer.
func answers(quantity resource.Quantity, factor int64) bool {
	copied := quantity.DeepCopy()
	number, ok := new(big.Rat).SetString(copied.AsDec().String())
	if !ok {
		return false
	}
	if number.Sign() < 0 && !reflect.ValueOf(quantity).FieldByName("d").Field(0).IsNil() {
		return false
	}
	number.Mul(number, big.NewRat(factor, 1))
	return number.Abs(number).Cmp(new(big.Rat).SetInt64(math.MaxInt64-1)) <= 0
}

func recordOneQuantity(text string) quantityCase {
	entry := quantityCase{Text: text}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return entry
	}
	entry.Valid, entry.Canonical, entry.Format = true, canonical(quantity), string(quantity.Format)
	copied := quantity.DeepCopy()
	entry.Number = copied.AsDec().String()
	if answers(quantity, 1) {
		value := quantity.Value()
		entry.Value = &value
	}
	if answers(quantity, 1000) {
		value := quantity.MilliValue()
		entry.MilliValue = &value
	}
	return entry
}

type arithmeticCase struct {
	Left       string `json:"left"`
	Right      string `json:"right"`
	Sum        string `json:"sum"`
	Difference string `json:"difference"`
	Negated    string `json:"negated"`
	Comparison int    `json:"comparison"`
}

type divisionCase struct {
	Amount  string `json:"amount"`
	Divisor string `json:"divisor"`
	// ceil(amount / divisor) as the kubelet computes it: cpu in thousandths, the rest in whole units.
	Whole int64 `json:"whole"`
	Milli int64 `json:"milli"`
}

func recordQuantities() *recording {
	result := &recording{}
	for _, text := range distinct(append(quantityTexts, randomQuantityTexts(250)...)) {
		result.add("texts", recordOneQuantity(text))
	}
	operands := strings.Fields("0 0Ki 1 -1 500m 1500m 1n 1k 1E 1Ki 1Gi 1.5Gi -1Gi 1e3 1E-5 0.1Ki 100000000000000000001 9223372036854775807 7Ei 12e30")
	for _, left := range operands {
		for _, right := range operands {
			a, b := resource.MustParse(left), resource.MustParse(right)
			sum, difference, negated := a.DeepCopy(), a.DeepCopy(), a.DeepCopy()
			sum.Add(b)
			difference.Sub(b)
			negated.Neg()
			result.add("arithmetic", arithmeticCase{left, right, canonical(sum), canonical(difference), canonical(negated), a.Cmp(b)})
		}
	}
	for _, amount := range strings.Fields("0 1m 1 250m 999m 1001m 1.5 2 3.2 16 1n 1500 1023 1025 1Mi 100Mi 1.5Gi 61255492Ki 129e6 -1500m -1Gi") {
		for _, divisor := range strings.Fields("1m 10m 250m 1 2 1k 1Ki 1Mi 1Gi 0.3 1e3") {
			a, d := resource.MustParse(amount), resource.MustParse(divisor)
			result.add("divisions", divisionCase{
				amount, divisor,
				int64(math.Ceil(float64(a.Value()) / float64(d.Value()))),
				int64(math.Ceil(float64(a.MilliValue()) / float64(d.MilliValue()))),
			})
		}
	}
	return result
}
