// Tells what Go's own decoder takes of bodies, one a line, as a server written in Go would read them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type body struct {
	Model               string  `json:"model"`
	MaxTokens           float64 `json:"max_tokens"`
	MaxCompletionTokens float64 `json:"max_completion_tokens"`
	NPredict            float64 `json:"n_predict"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var b body
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			fmt.Println("error")
			continue
		}
		out, _ := json.Marshal([]any{b.Model, b.MaxTokens, b.MaxCompletionTokens, b.NPredict})
		fmt.Println(string(out))
	}
}
