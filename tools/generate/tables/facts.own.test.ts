import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, type Packages, rowOf } from "./facts.ts";
import { type GoPackage, typesOf } from "./go-source.ts";

const META = "k8s.io/apimachinery/pkg/apis/meta/v1";
const PATH = "k8s.io/api/widgets/v1";

const IMPORTS = `import (\n\tmetav1 "${META}"\n)\n`;
const OTHER_TYPES = `
type Side string
type Extra []string
type Part struct {
	Name string \`json:"name"\`
}
`;

function packagesWith(source: string): Packages {
  const meta = typesOf('type Time struct {\n\tTime int64 `json:"-"`\n}\n');
  const packages = new Map<string, GoPackage>(
    Object.entries({ [PATH]: typesOf(`${IMPORTS}${OTHER_TYPES}${source}`), [META]: meta }).map(([path, types]) => [
      path,
      { path, group: "", textConstants: new Map([["Left", "left"]]), types: new Map(types.map((type) => [type.name, type])) },
    ]),
  );
  return {
    get: (path) => packages.get(path),
    shortNameOf: (path) => (path === PATH ? "widgets.v1" : "meta.v1"),
    isMessage: () => true,
  };
}

/** Rows of a struct with these lines. */
function rowsOf(lines: string): string[][] {
  const packages = packagesWith(`type Widget struct {\n${lines}\n}\n`);
  const type = packages.get(PATH)?.types.get("Widget");
  const found = type && fieldsOf({ path: PATH, type }, packages);
  return (found?.fields ?? []).map((field) => rowOf("widgets.v1.Widget", field, { path: PATH, type: type! }, packages));
}

const zeros: readonly (readonly [go: string, form: string, zero: string])[] = [
  ['F *Part `json:"f,omitempty"`', "widgets.v1.Part", "keep"],
  ['F *bool `json:"f"`', "boolean", "keep"],
  ['F bool `json:"f,omitempty"`', "boolean", "omit"],
  ['F Side `json:"f"`', "string", "write"],
  ['F []Part `json:"f,omitempty"`', "[]widgets.v1.Part", "omit"],
  ['F []Part `json:"f"`', "[]widgets.v1.Part", "keep"],
  ['F []byte `json:"f,omitempty"`', "byte", "omit"],
  ['F map[Side]Part `json:"f"`', "{}widgets.v1.Part", "keep"],
  ['F map[string]Extra `json:"f,omitempty"`', "{}()string", "omit"],
  ['F Part `json:"f,omitempty"`', "widgets.v1.Part", "write"],
  ['F Part `json:"f,omitempty,omitzero"`', "widgets.v1.Part", "omit"],
  ['F metav1.Time `json:"f,omitempty"`', "date-time", "write"],
  ['F metav1.Time `json:"f,omitempty,omitzero"`', "date-time", "omit"],
];

for (const [go, form, zero] of zeros) {
  test(`the zero value of ${go} is: ${zero}`, () => {
    const [[, , , foundForm, foundZero] = []] = rowsOf(`\t${go}`);

    deepEqual([foundForm, foundZero], [form, zero]);
  });
}

const requirements: readonly (readonly [go: string, required: string])[] = [
  ['F string `json:"f"`', "required"],
  ['F string `json:"f,omitempty"`', ""],
  ['// +optional\n\tF string `json:"f"`', ""],
  ['// +required\n\tF string `json:"f,omitempty"`', "required"],
];

for (const [go, required] of requirements) {
  test(`${go.replaceAll(/\s+/g, " ")} is ${required || "optional"}`, () => {
    equal(rowsOf(`\t${go}`)[0]?.[5], required);
  });
}

test("a row has the number, list type, patch strategy and default", () => {
  const lines = [
    "\t// +listType=map",
    "\t// +listMapKey=name",
    "\t// +listMapKey=side",
    '\tParts []Part `json:"parts,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,7,rep,name=parts"`',
    "\t// +default=ref(Left)",
    '\tSide Side `json:"side,omitempty" protobuf:"bytes,8,opt,name=side"`',
  ];

  deepEqual(rowsOf(lines.join("\n")), [
    ["widgets.v1.Widget", "parts", "7", "[]widgets.v1.Part", "omit", "", "map:name,side", "merge,retainKeys", "name", ""],
    ["widgets.v1.Widget", "side", "8", "string", "omit", "", "", "", "", '"left"'],
  ]);
});

test("an inlined struct has a row without a name", () => {
  deepEqual(rowsOf('\tPart `json:",inline" protobuf:"bytes,1,opt,name=part"`'), [["widgets.v1.Widget", "", "1", "widgets.v1.Part"]]);
});

test("a field in neither JSON nor protobuf has no row", () => {
  deepEqual(rowsOf('\tCache string `json:"-"`'), [[]]);
});

test("an unknown type is an error", () => {
  throws(() => rowsOf('\tF Gadget `json:"f"`'), /Cannot find the Go type Gadget/);
});
