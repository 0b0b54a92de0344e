/**
 * Generates the descriptions of all types and fields and other documentation, separate from the schemas: only OpenAPI and `kubectl explain`
 * need them. One text, which src/api/descriptions.ts reads.
 */
import type { DescriptionData, TypeDescription } from "../../src/api/descriptions.ts";
import { type ApiTables, type ApiType, packageNameOf, readApiTables, shortNameOf } from "./api-tables.ts";
import { documentationOf, type TypeDocumentation } from "./documentation.ts";
import type { Generator } from "./generator.ts";
import { isKind } from "./kinds.ts";
import { stringLiteral } from "./string-literal.ts";

/** Types without rows in the tables, because they have no fields. */
const WITHOUT_FIELDS = [
  "io.k8s.apimachinery.pkg.api.resource.Quantity",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
];

/** Descriptions that no package has. */
const DESCRIBED_HERE: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity":
    "Quantity is a number with an optional unit: a power of 1000 (n, u, m, k, M, G, T, P, E), a power of 1024 (Ki, Mi, Gi, Ti, Pi, Ei) or an exponent of ten (e3). At most three digits follow the decimal point.",
};

/** Of the many types that start with apiVersion and kind, one whose declaration describes both. */
const DESCRIBES_TYPE_META = "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup";

export const descriptions: Generator = {
  async generate(root) {
    const literal = stringLiteral(JSON.stringify(descriptionDataOf(root, readApiTables(root))));
    const text = `/** Generated from the packages of types by tools/generate/descriptions.ts. */\nexport const descriptionData =\n  ${literal};\n`;
    return [{ path: "src/api/generated/descriptions.ts", text }];
  },
};

/** Exported for its test. */
export function descriptionDataOf(root: string, tables: ApiTables): DescriptionData {
  const typeMeta = documentationOfName(root, tables, DESCRIBES_TYPE_META)?.fields;
  const made = tables.packages.flatMap(({ types }) =>
    types.flatMap((type): [string, TypeDescription][] => {
      const name = tables.openApiName(type.name);
      const documentation = documentationOfName(root, tables, name);
      return documentation === undefined ? [] : [[name, describe(type, documentation, tables)]];
    }),
  );
  const others = WITHOUT_FIELDS.map((name): [string, TypeDescription] => {
    const description = DESCRIBED_HERE[name] ?? documentationOfName(root, tables, name)?.description;
    if (description === undefined) throw new Error(`The packages of types do not have ${name}`);
    return [name, { description, fields: {} }];
  });
  return {
    apiVersion: typeMeta?.get("apiVersion")?.description ?? "",
    kind: typeMeta?.get("kind")?.description ?? "",
    types: Object.fromEntries([...made, ...others]),
  };
}

function documentationOfName(root: string, { packages }: ApiTables, name: string): TypeDocumentation | undefined {
  const openApi = packageNameOf(name);
  const one = packages.find((candidate) => candidate.openApi === openApi) ?? { openApi, group: "", version: "" };
  return documentationOf(root, one, shortNameOf(name));
}

function describe(type: ApiType, documentation: TypeDocumentation, tables: ApiTables): TypeDescription {
  const ofEveryKind = isKind(type) ? ["apiVersion", "kind"] : [];
  const fields = [...documentation.fields].filter(([name, { description }]) => description !== "" && !ofEveryKind.includes(name));
  const lists = undeclaredListsOf(type, tables);
  const union = unionOf(type);
  return {
    description: documentation.description,
    fields: Object.fromEntries(fields.map(([name, { description }]) => [name, description])),
    ...(lists.length > 0 && { undeclaredLists: lists }),
    ...(union !== undefined && { union }),
  };
}

function undeclaredListsOf({ fields }: ApiType, tables: ApiTables): string[] {
  return fields.flatMap(({ name, form, merge }) => {
    if (name === "") return undeclaredListsOf(tables.typeOf(form), tables);
    return merge === "" && (form.startsWith("[]") || form.startsWith("()")) ? [name] : [];
  });
}

function unionOf({ union, fields }: ApiType): TypeDescription["union"] {
  const [, discriminator] = /^by (.*)$/.exec(union) ?? [];
  if (discriminator === undefined) return undefined;
  const members = fields.map(({ name }) => name).filter((name) => name !== discriminator);
  return { ...(discriminator !== "nothing" && { discriminator }), members };
}
