import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { type GoType, typesOf } from "./go-source.ts";

const SOURCE = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

/*
type Commented struct {
*/

// +structType=atomic

// Widget is a thing.
// +union
type Widget struct {
	metav1.TypeMeta \`json:",inline"\`

	// Parts of it.
	// +listType=map
	// +listMapKey=name
	// +listMapKey=side
	Parts []Part \`json:"parts,omitempty" protobuf:"bytes,2,rep,name=parts"\` // the end

	// +optional

	Data *runtime.RawExtension \`json:"data"\`
	cache map[string]func() bool
}

type Empty struct{}

type Names map[string]Part // by name

type Alias = Names
`;

/** Without the imports, which all types of a file share. */
function withoutImports({ imports: _imports, ...type }: GoType): Omit<GoType, "imports"> {
  return type;
}

test("structs, their tags and markers, and aliases are read", () => {
  const [widget, ...others] = typesOf(SOURCE).map(withoutImports);

  deepEqual(widget, {
    name: "Widget",
    markers: new Map([
      ["structType", ["atomic"]],
      ["union", [""]],
    ]),
    fields: [
      { goType: "metav1.TypeMeta", embedded: true, markers: new Map(), tags: new Map([["json", ",inline"]]) },
      {
        goType: "[]Part",
        embedded: false,
        markers: new Map([
          ["listType", ["map"]],
          ["listMapKey", ["name", "side"]],
        ]),
        tags: new Map([
          ["json", "parts,omitempty"],
          ["protobuf", "bytes,2,rep,name=parts"],
        ]),
      },
      { goType: "*runtime.RawExtension", embedded: false, markers: new Map(), tags: new Map([["json", "data"]]) },
    ],
  });
  deepEqual(others, [
    { name: "Empty", markers: new Map(), fields: [] },
    { name: "Names", markers: new Map(), underlying: "map[string]Part" },
    { name: "Alias", markers: new Map(), underlying: "Names" },
  ]);
});

test("imports are resolved by their local name", () => {
  deepEqual(
    typesOf(SOURCE)[0]?.imports,
    new Map([
      ["metav1", "k8s.io/apimachinery/pkg/apis/meta/v1"],
      ["runtime", "k8s.io/apimachinery/pkg/runtime"],
    ]),
  );
});

test("an unreadable field with a tag is an error", () => {
  throws(() => typesOf('type A struct {\n\tB, C, D string `json:"b"`\n}\n'), /Cannot read the Go field/);
});
