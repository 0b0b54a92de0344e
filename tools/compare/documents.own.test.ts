import { deepEqual } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { discovery } from "./discovery.ts";
import { openApiDocuments } from "./openapi-documents.ts";
import { withOurDocuments } from "./our-documents.ts";

const directory = mkdtempSync(join(tmpdir(), "k8ts-snapshots-"));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, "openapi-v3-9.9"));
mkdirSync(join(directory, "discovery-9.9"));

// oxlint-disable-next-line typescript/no-explicit-any -- a document is changed in places that no type names
type Loose = any;

/** Uses our own documents, with a mistake planted by `change`, as the snapshot. */
async function plant(file: string, path: string, change: (document: Loose) => void = () => {}): Promise<void> {
  const document = await withOurDocuments((read) => read(path));
  change(document);
  writeFileSync(join(directory, file), JSON.stringify(document));
}

test("the comparison of discovery reports differences, what we lack and what they lack", async () => {
  await plant("discovery-9.9/apis.json", "/apis", ({ groups }) => groups.reverse());
  await plant("discovery-9.9/api__v1.json", "/api/v1", ({ resources }) => {
    const named = (name: string) => resources.find((resource: Loose) => resource.name === name);
    named("configmaps").shortNames = ["cfg"];
    named("events").name = "rumours";
    resources.push({ name: "pods/dance" }, { name: "dances" }, { name: "dances/status" });
  });
  writeFileSync(join(directory, "discovery-9.9/apis__nope__v1.json"), JSON.stringify({ resources: [] }));

  const [order, ...found] = await discovery.compare(directory);

  deepEqual(order?.startsWith("/apis, groups: ours apiregistration.k8s.io/v1 apps/v1 "), true);
  deepEqual(found, [
    'api/v1 configmaps, shortNames: ours ["cm"], theirs ["cfg"]',
    "api/v1 rumours: we do not serve it",
    "api/v1 pods/dance: we do not have it",
    "api/v1 dances: we do not serve it",
    "api/v1 events: they do not have it",
    "apis/nope/v1: we do not serve it",
  ]);
});

const DOCUMENT = "apis/coordination.k8s.io/v1";
const PATH = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}";
const LEASE = "io.k8s.api.coordination.v1.Lease";

const planted: readonly { readonly it: string; change(document: Loose): void; readonly finds: readonly string[] }[] = [
  { it: "reports nothing for equal documents", change: () => {}, finds: [] },
  {
    it: "reports a missing path of a kind that we serve",
    change: ({ paths }) => (paths[`${PATH}/dance`] = {}),
    finds: [`${PATH}/dance: we do not have it`],
  },
  {
    it: "reports a kind that we do not serve once",
    change: ({ paths }) => {
      paths["/apis/coordination.k8s.io/v1/namespaces/{namespace}/dances"] = {};
      paths["/apis/coordination.k8s.io/v1/dances"] = {};
    },
    finds: [`${DOCUMENT} dances: we do not serve it`],
  },
  { it: "reports a method", change: ({ paths }) => delete paths[PATH].patch, finds: [`patch ${PATH}: they do not have it`] },
  {
    it: "reports a parameter and an operation id",
    change: ({ paths }) => {
      paths[PATH].put.parameters.pop();
      paths[PATH].put.operationId = "replaceIt";
    },
    finds: [
      `put ${PATH}, id: ours replaceCoordinationV1NamespacedLease, theirs replaceIt`,
      `put ${PATH}, query parameter fieldValidation: ours string, theirs nothing`,
    ],
  },
  {
    it: "reports the type of a response",
    change: ({ paths }) => {
      for (const content of Object.values<Loose>(paths[PATH].get.responses[200].content))
        content.schema = { $ref: "#/components/schemas/Other" };
    },
    finds: [`get ${PATH}, response 200: ours ${LEASE}, theirs Other`],
  },
  {
    it: "reports another schema of a field, but not another description",
    change({ components }) {
      const { spec, metadata } = components.schemas[LEASE].properties;
      spec.default = { holderIdentity: "me" };
      metadata.description = "Something else.";
    },
    finds: [
      `${DOCUMENT} ${LEASE}.spec: ours {"allOf":[{"$ref":"#/components/schemas/${LEASE}Spec"}],"default":{}}, ` +
        `theirs {"allOf":[{"$ref":"#/components/schemas/${LEASE}Spec"}],"default":{"holderIdentity":"me"}}`,
    ],
  },
];

for (const { it, change, finds } of planted) {
  test(`the comparison of documents ${it}`, async () => {
    await plant("openapi-v3-9.9/apis__coordination.k8s.io__v1_openapi.json", `/openapi/v3/${DOCUMENT}`, change);

    deepEqual(await openApiDocuments.compare(directory), finds);
  });
}
