// Tells what Go's own decoder takes of bodies, as a server written in Go would read them. A line has the paths to look
// at, with blanks between them, a tab, and the body.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
)

var anything = reflect.TypeOf((*any)(nil)).Elem()

// A struct with a field for each path, nested where a path has points.
func structOf(paths [][]string) reflect.Type {
	var order []string
	inner := map[string][][]string{}
	for _, path := range paths {
		if _, known := inner[path[0]]; !known {
			order = append(order, path[0])
		}
		inner[path[0]] = append(inner[path[0]], path[1:])
	}
	var fields []reflect.StructField
	for place, name := range order {
		field := anything
		if len(inner[name][0]) > 0 {
			field = structOf(inner[name])
		}
		tag := reflect.StructTag(fmt.Sprintf(`json:"%s"`, name))
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d_%s", place, name), Type: field, Tag: tag})
	}
	return reflect.StructOf(fields)
}

func valueAt(from reflect.Value, path []string) any {
	for _, name := range path {
		for place := 0; place < from.NumField(); place++ {
			if from.Type().Field(place).Tag.Get("json") == name {
				from = from.Field(place)
				break
			}
		}
	}
	return from.Interface()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		names, body, _ := strings.Cut(lines.Text(), "\t")
		var paths [][]string
		for _, name := range strings.Fields(names) {
			paths = append(paths, strings.Split(name, "."))
		}
		read := reflect.New(structOf(paths))
		if err := json.Unmarshal([]byte(body), read.Interface()); err != nil {
			fmt.Println(`"error"`)
			continue
		}
		var seen []any
		for _, path := range paths {
			seen = append(seen, valueAt(read.Elem(), path))
		}
		out, _ := json.Marshal(seen)
		fmt.Println(string(out))
	}
}
