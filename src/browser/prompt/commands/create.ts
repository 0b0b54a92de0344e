/** `kubectl create …`, `run` and `expose`: objects from a few flags. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { kindOfReference, pathOf } from "../../../dashboard/data/kinds.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { FILE_FLAG, NAMESPACE_FLAG, parseArguments, UsageError, wholeNumber, type FlagSpecs } from "../flags.ts";
import { getObject, namedTargets, shownName } from "../resources.ts";
import { tableLines } from "../text-table.ts";
import { createFromFile, postObject } from "./apply.ts";

type Flags = Readonly<Record<string, string>>;

async function createObject(context: CommandContext, object: KubeObject, verb = "created"): Promise<void> {
  const kind = kindOfReference(await context.kinds(), object.apiVersion, object.kind);
  if (kind === undefined) throw new Error(`no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
  const { namespace } = context;
  const placed = kind.isNamespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
  await postObject(context, pathOf(kind, kind.isNamespaced ? { namespace } : {}), placed);
  context.out(`${shownName({ kind, name: object.metadata.name })} ${verb}`);
}

function imageOf(flags: Flags): string {
  const { image } = flags;
  if (image === undefined || image === "") throw new UsageError(`required flag(s) "image" not set`);
  return image;
}

/** "nginx" of "registry.example/web/nginx:1.27", as kubectl names the container. */
function containerName(image: string): string {
  return (image.split("/").at(-1) ?? image).replace(/[:@].*$/, "").toLowerCase();
}

function onlyName(positional: readonly string[], what: string): string {
  const [name, ...more] = positional;
  if (name === undefined || more.length > 0)
    throw new UsageError(`exactly one NAME is required, got ${positional.length}\nSee '${what} --help'`);
  return name;
}

interface Creation {
  readonly word: string;
  readonly aliases?: readonly string[];
  readonly flags: FlagSpecs;
  readonly usage: string;
  objectOf(name: string, flags: Flags): KubeObject;
}

const CREATIONS: readonly Creation[] = [
  {
    word: "deployment",
    aliases: ["deploy", "dep"],
    flags: { image: {}, replicas: { short: "r" }, port: {} },
    usage: "NAME --image=IMAGE [--replicas=N] [--port=PORT]",
    objectOf(name, flags) {
      const image = imageOf(flags);
      const ports = flags["port"] === undefined ? {} : { ports: [{ containerPort: wholeNumber("port", flags["port"]) }] };
      const labels = { app: name };
      return {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, labels },
        spec: {
          replicas: wholeNumber("replicas", flags["replicas"] ?? "1"),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: containerName(image), image, ...ports }] } },
        },
      } as KubeObject;
    },
  },
  {
    word: "namespace",
    aliases: ["ns"],
    flags: {},
    usage: "NAME",
    objectOf: (name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
  },
  {
    word: "configmap",
    aliases: ["cm"],
    flags: { "from-literal": {} },
    usage: "NAME [--from-literal=KEY=VALUE]",
    objectOf(name, flags) {
      const literal = flags["from-literal"];
      const data = literal === undefined ? {} : { data: { [literal.split("=")[0] ?? ""]: literal.slice(literal.indexOf("=") + 1) } };
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...data };
    },
  },
  {
    word: "job",
    flags: { image: {} },
    usage: "NAME --image=IMAGE",
    objectOf(name, flags) {
      const image = imageOf(flags);
      const spec = { template: { spec: { containers: [{ name, image }], restartPolicy: "Never" } } };
      return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec } as KubeObject;
    },
  },
];

export const create: Command = {
  name: ["create"],
  usage: "-f FILE|-, or deployment|namespace|configmap|job NAME …",
  summary: "Create objects from a manifest or from flags",
  async run(words, given) {
    const [word = "", ...rest] = words;
    const creation = CREATIONS.find((one) => one.word === word || one.aliases?.includes(word) === true);
    if (creation === undefined) {
      const { positional, flags } = parseArguments(words, { ...FILE_FLAG, ...NAMESPACE_FLAG });
      if (positional.length > 0)
        throw new UsageError(`unknown command "create ${positional[0]}": ${CREATIONS.map((one) => one.word).join(", ")}`);
      return createFromFile(given, flags);
    }
    const { positional, flags } = parseArguments(rest, { ...creation.flags, ...NAMESPACE_FLAG });
    const name = onlyName(positional, `kubectl create ${creation.word}`);
    return createObject(within(given, flags), creation.objectOf(name, flags));
  },
};

export const run: Command = {
  name: ["run"],
  usage: "NAME --image=IMAGE [--labels=KEY=VALUE,…] [--port=PORT]",
  summary: "Create one Pod",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { image: {}, labels: { short: "l" }, port: {}, restart: {}, ...NAMESPACE_FLAG });
    const name = onlyName(positional, "kubectl run");
    const image = imageOf(flags);
    const labels =
      flags["labels"] === undefined ? { run: name } : Object.fromEntries(flags["labels"].split(",").map((pair) => pair.split("=")));
    const ports = flags["port"] === undefined ? {} : { ports: [{ containerPort: wholeNumber("port", flags["port"]) }] };
    const restart = flags["restart"] === undefined ? {} : { restartPolicy: flags["restart"] };
    const spec = { containers: [{ name, image, ...ports }], ...restart };
    await createObject(within(given, flags), { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec } as KubeObject);
  },
};

interface Exposed {
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly ports?: readonly unknown[];
  };
}

export const expose: Command = {
  name: ["expose"],
  usage: "TYPE NAME --port=PORT [--target-port=PORT] [--name=NAME] [--type=TYPE]",
  summary: "Create a Service for the Pods of a workload",
  async run(words, given) {
    const flagSpecs = { port: {}, "target-port": {}, name: {}, type: {}, ...NAMESPACE_FLAG };
    const { positional, flags } = parseArguments(words, flagSpecs);
    const context = within(given, flags);
    const [target] = await namedTargets(context, positional);
    if (target === undefined) throw new UsageError("You must provide one or more resources by argument or filename.");
    const object = await getObject(context, target);
    const { spec } = object as Exposed;
    const selector = target.kind.plural === "pods" ? object.metadata.labels : spec?.selector?.matchLabels;
    if (selector === undefined || Object.keys(selector).length === 0)
      throw new UsageError(`couldn't retrieve selectors via --selector flag or introspection: the ${target.kind.kind} has no selector`);
    if (flags["port"] === undefined) throw new UsageError("couldn't find port via --port flag or introspection");
    const port = wholeNumber("port", flags["port"]);
    const targetPort = flags["target-port"] === undefined ? {} : { targetPort: portValue(flags["target-port"]) };
    const name = flags["name"] ?? target.name;
    const type = flags["type"] === undefined ? {} : { type: flags["type"] };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name, labels: object.metadata.labels ?? {} } };
    await createObject(
      context,
      { ...service, spec: { selector, ports: [{ port, protocol: "TCP", ...targetPort }], ...type } } as KubeObject,
      "exposed",
    );
  },
};

function portValue(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

export const apiResources: Command = {
  name: ["api-resources"],
  usage: "",
  summary: "List the kinds that the cluster serves",
  async run(_words, context) {
    const kinds = await context.kinds();
    const rows = kinds.map(({ plural, shortNames, group, version, isNamespaced, kind }) => [
      plural,
      shortNames.join(","),
      group === "" ? version : `${group}/${version}`,
      String(isNamespaced),
      kind,
    ]);
    for (const line of tableLines([["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"], ...rows])) context.out(line);
  },
};
