import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { isReason, StatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../framework/admission.ts";
import { admittingServer } from "../testing/admitting-server.ts";

const SERVICES = { group: "", version: "v1", plural: "services", namespace: "default" };

interface Port {
  readonly name: string;
  readonly port: number;
  readonly protocol?: string;
}

function portsOf(object: KubeObject): readonly Port[] {
  return (object as KubeObject & { readonly spec: { readonly ports?: readonly Port[] } }).spec.ports ?? [];
}

/** Adds a port without defaults, as a webhook would. */
function addingPort(name: string, port: number): (request: AdmissionRequest) => KubeObject {
  return ({ object }) => ({ ...object, spec: { ports: [...portsOf(object!), { name, port }] } }) as KubeObject;
}

function service(ports: readonly Port[]): JsonObject {
  return { metadata: { name: "a" }, spec: { ports: ports.map((port) => ({ ...port })) } };
}

async function write(transport: Transport, verb: "create" | "update", ports: readonly Port[]): Promise<KubeObject> {
  const answer = await transport.request({ ...SERVICES, verb, ...(verb === "update" ? { name: "a" } : {}), object: service(ports) });
  assert(answer.is === "object");
  return answer.object;
}

test("mutating plugins run first, in order, then validating ones, which get the defaulted object that will be stored", async () => {
  const heard: string[] = [];
  const hear = (plugin: string, { operation, object }: AdmissionRequest) => {
    const ports = portsOf(object!).map(({ port, protocol = "?" }) => `${port}/${protocol}`);
    heard.push(`${operation} ${plugin} ${ports.join()}`);
  };
  const plugin = (name: string, port: number): AdmissionPlugin => ({
    name,
    mutate(request) {
      hear(`${name} mutates`, request);
      return addingPort(name, port)(request);
    },
    validate: (request) => hear(`${name} validates`, request),
  });
  const transport = admittingServer({ plugins: [plugin("x", 81), plugin("y", 82)] });

  const created = await write(transport, "create", [{ name: "own", port: 80 }]);
  const updated = await write(transport, "update", [{ name: "own", port: 90 }]);

  assert.deepEqual(heard, [
    "CREATE x mutates 80/TCP",
    "CREATE y mutates 80/TCP,81/?",
    "CREATE x validates 80/TCP,81/TCP,82/TCP",
    "CREATE y validates 80/TCP,81/TCP,82/TCP",
    "UPDATE x mutates 90/TCP",
    "UPDATE y mutates 90/TCP,81/?",
    "UPDATE x validates 90/TCP,81/TCP,82/TCP",
    "UPDATE y validates 90/TCP,81/TCP,82/TCP",
  ]);
  for (const object of [created, updated])
    assert.deepEqual(
      portsOf(object).map(({ protocol }) => protocol),
      ["TCP", "TCP", "TCP"],
    );
});

test("the kind's validation checks the mutated object, and validating plugins do not run if it fails", async () => {
  let asked = 0;
  const plugins: AdmissionPlugin[] = [
    { name: "repairs", mutate: (request) => (portsOf(request.object!).length === 0 ? addingPort("http", 80)(request) : undefined) },
    { name: "looks", validate: () => void asked++ },
  ];
  const transport = admittingServer({ plugins });

  await assert.rejects(write(transport, "create", [{ name: "a", port: 0 }]), (error) => isReason(error, "Invalid"));
  assert.equal(asked, 0);
  await write(transport, "create", []);
  assert.equal(asked, 1);
});

test("a write that a mutating or validating plugin rejects is not stored", async () => {
  const refuse = () => {
    throw new StatusError("Forbidden", "not here");
  };
  for (const plugin of [
    { name: "p", mutate: refuse },
    { name: "p", validate: refuse },
  ]) {
    const transport = admittingServer({ plugins: [plugin] });
    await assert.rejects(write(transport, "create", [{ name: "a", port: 80 }]), (error) => isReason(error, "Forbidden"));
    const list = await transport.request({ ...SERVICES, verb: "list" });
    assert(list.is === "list" && list.items.length === 0);
  }
});
