import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "../../src/api/generated/apps/v1.ts";
import type { ContainerPort, Pod, PodTemplateSpec } from "../../src/api/generated/core/v1.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { apiTypes } from "./api-types.ts";

const files = await apiTypes.generate(packageDirectory(import.meta.dirname));

function typeIn(path: string, name: string): string[] {
  const text = files.find((file) => file.path === `src/api/generated/${path}`)?.text ?? "";
  const [, body] = new RegExp(`^export type ${name} = \\{\\n([^}]*)\\}`, "m").exec(text) ?? [];
  return (body ?? "").trimEnd().split("\n");
}

test("there is a file per group and version, in a folder named after the group", () => {
  const paths = files.map(({ path }) => path);

  for (const path of ["core/v1.ts", "meta/v1.ts", "apps/v1.ts", "autoscaling/v2.ts", "rbac.authorization.k8s.io/v1.ts"]) {
    ok(paths.includes(`src/api/generated/${path}`), path);
  }
});

test("a kind always has apiVersion, kind and metadata", () => {
  deepEqual(typeIn("apps/v1.ts", "Deployment"), [
    '  readonly apiVersion: "apps/v1";',
    '  readonly kind: "Deployment";',
    "  readonly metadata: ObjectMeta;",
    "  readonly spec?: DeploymentSpec;",
    "  readonly status?: DeploymentStatus;",
  ]);
});

test("a type that is not a kind has optional metadata without a required name", () => {
  deepEqual(typeIn("core/v1.ts", "PodTemplateSpec"), ["  readonly metadata?: Partial<ObjectMeta>;", "  readonly spec?: PodSpec;"]);
});

test("fields are readonly, optional where OpenAPI says so, and have the JSON type", () => {
  deepEqual(typeIn("core/v1.ts", "ContainerPort"), [
    "  readonly name?: string;",
    "  readonly hostPort?: number;",
    "  readonly containerPort: number;",
    '  readonly protocol?: "SCTP" | "TCP" | "UDP";',
    "  readonly hostIP?: string;",
  ]);
  deepEqual(typeIn("core/v1.ts", "TCPSocketAction")[0], "  readonly port: number | string;");
  deepEqual(typeIn("core/v1.ts", "ResourceRequirements")[0], "  readonly limits?: Readonly<Record<string, string>>;");
  ok(
    typeIn("core/v1.ts", "PersistentVolumeClaimSpec")[0]?.endsWith(
      'readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];',
    ),
  );
  deepEqual(typeIn("apps/v1.ts", "ControllerRevision")[3], "  readonly data?: Json;");
});

test("types of other packages are imported from their files, and ObjectMeta from the handwritten one", () => {
  const { text = "" } = files.find(({ path }) => path.endsWith("/batch/v1.ts")) ?? {};

  deepEqual(text.match(/^import .*$/gm), [
    'import type { LabelSelector } from "../meta/v1.ts";',
    'import type { ListMeta, ObjectMeta } from "../../machinery/object.ts";',
    'import type { ObjectReference, PodTemplateSpec } from "../core/v1.ts";',
  ]);
});

test("objects of the API satisfy the types, and invalid ones do not", () => {
  const template: PodTemplateSpec = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web" }] } };
  const deployment: Deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: { app: "web" } }, template },
  };
  const object: KubeObject = deployment;
  // @ts-expect-error: not one of the values.
  const port: ContainerPort = { containerPort: 80, protocol: "ICMP" };
  // @ts-expect-error: a Pod has a name.
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: {} };

  deepEqual([object.kind, port.protocol, pod.kind], ["Deployment", "ICMP", "Pod"]);
});
