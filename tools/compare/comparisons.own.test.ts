import { deepEqual } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { descriptionTexts } from "./description-texts.ts";
import { listSemantics } from "./list-semantics.ts";
import { openApiTypes } from "./openapi-types.ts";
import type { OpenApiSchema } from "./openapi-snapshot.ts";
import { protobufFields } from "./protobuf-fields.ts";

const PORT = "io.k8s.api.core.v1.ContainerPort";
const DESCRIBED = "ContainerPort represents a network port in a single container.";

const directory = mkdtempSync(join(tmpdir(), "k8ts-snapshots-"));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, "openapi-v3-9.9"));

/** The schema of a container port in an OpenAPI document, with planted `changes`. */
function plantPort(changes: Readonly<Record<string, OpenApiSchema | undefined>>, more: OpenApiSchema = {}): void {
  const properties = {
    name: { type: "string" },
    hostPort: { type: "integer", format: "int32" },
    containerPort: { type: "integer", format: "int32", default: 0 },
    protocol: { type: "string", default: "TCP", enum: ["SCTP", "TCP", "UDP"] },
    hostIP: { type: "string" },
    ...changes,
  };
  const schemas = { [PORT]: { description: DESCRIBED, required: ["containerPort"], properties, ...more } };
  writeFileSync(join(directory, "openapi-v3-9.9/core.json"), JSON.stringify({ components: { schemas } }));
}

const planted: readonly { readonly it: string; plant(): void; readonly finds: readonly string[] }[] = [
  { it: "reports nothing for equal schemas", plant: () => plantPort({}), finds: [] },
  {
    it: "reports another type",
    plant: () => plantPort({ name: { type: "integer", format: "int64" } }),
    finds: [`${PORT}.name, type: ours "string", theirs "integer int64"`],
  },
  {
    it: "reports a field that we lack",
    plant: () => plantPort({ color: { type: "string" } }),
    finds: [`${PORT}.color: we do not have it`],
  },
  { it: "reports a field that they lack", plant: () => plantPort({ name: undefined }), finds: [`${PORT}.name: they do not have it`] },
  {
    it: "reports other required fields",
    plant: () => plantPort({}, { required: [] }),
    finds: [`${PORT}, required: ours "containerPort", theirs ""`],
  },
  {
    it: "reports another enumeration and default",
    plant: () => plantPort({ protocol: { type: "string", enum: ["TCP"] } }),
    finds: [`${PORT}.protocol, enum: ours "SCTP TCP UDP", theirs "TCP"`, `${PORT}.protocol, default: ours "\\"TCP\\"", theirs ""`],
  },
  {
    it: "reports other kinds",
    plant: () => plantPort({}, { "x-kubernetes-group-version-kind": [{ group: "", version: "v1", kind: "Port" }] }),
    finds: [`${PORT}, kinds: ours "", theirs "/v1 Port"`],
  },
];

for (const { it, plant, finds } of planted) {
  test(`the comparison of types ${it}`, async () => {
    plant();

    deepEqual(await openApiTypes.compare(directory), finds);
  });
}

test("the comparison of descriptions reports another text, but not the values of an enumeration", async () => {
  const described = (description: string): OpenApiSchema => ({ type: "string", description });
  plantPort({ protocol: described('Protocol for port. Must be UDP, TCP, or SCTP. Defaults to "TCP".'), hostIP: described("A host.") });

  const found = await descriptionTexts.compare(directory);

  deepEqual(
    found.filter((text) => text.startsWith(`${PORT}.protocol`) || text.startsWith(`${PORT}:`) || text.endsWith('"A host."')),
    [`${PORT}.hostIP: ours "What host IP to bind the external port to.", theirs "A host."`],
  );
});

test("the comparison of lists reports missing and different list types", async () => {
  plantPort({});
  writeFileSync(join(directory, "list-map-semantics-9.9.tsv"), "core.v1.ContainerPort\tname\tlist=set\n");

  deepEqual(await listSemantics.compare(directory), ["core.v1.ContainerPort name: ours nothing, theirs list=set"]);
});

test("the comparison of messages reports another number, type and label", async () => {
  const rows = [
    ["name", "1", "optional", "string"],
    ["hostPort", "2", "optional", "int64"],
    ["containerPort", "3", "repeated", "int32"],
    ["protocol", "4", "optional", "string"],
    ["hostIP", "6", "optional", "string"],
  ];
  const lines = rows.map((row) => ["k8s.io.api.core.v1", "ContainerPort", ...row].join("\t"));
  writeFileSync(join(directory, "protobuf-fields-9.9.tsv"), `${lines.join("\n")}\n`);

  const found = await protobufFields.compare(directory);

  deepEqual(
    found
      .filter((text) => text.startsWith("k8s.io.api.core.v1.ContainerPort "))
      .map((text) => text.slice("k8s.io.api.core.v1.ContainerPort ".length)),
    [
      "2: ours optional int32 hostPort, theirs optional int64 hostPort",
      "3: ours optional int32 containerPort, theirs repeated int32 containerPort",
      "5: ours optional string hostIP, theirs nothing",
      "6: ours nothing, theirs optional string hostIP",
    ],
  );
});
