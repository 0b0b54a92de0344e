/** Builds the request path of a kubelet, in the form of upstream's kubelets. */
import type { Json } from "../../api/machinery/object.ts";
import type { ConnectionCall } from "../framework/node-connector.ts";

/** With its query. */
export function kubeletPath({ subresource, target, options }: ConnectionCall): string {
  if (target.is !== "kubelet" || target.pod === undefined) throw new Error(`${subresource} needs a Pod and its kubelet`);
  const segments = [
    PATHS[subresource] ?? subresource,
    target.pod.namespace,
    target.pod.name,
    ...containerOf(subresource, target.container),
  ];
  const query = new URLSearchParams(PARAMETERS[subresource]?.(options) ?? []).toString();
  return `/${segments.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

const PATHS: Readonly<Record<string, string>> = { log: "containerLogs", portforward: "portForward" };

function containerOf(subresource: string, container: string | undefined): readonly string[] {
  return subresource === "portforward" || container === undefined ? [] : [container];
}

type Options = ConnectionCall["options"];
type Parameter = [name: string, value: string];

const PARAMETERS: Readonly<Record<string, (options: Options) => Parameter[]>> = {
  log: (options) =>
    ["follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "stream", "tailLines", "timestamps"].flatMap((name) =>
      said(options[name]) ? [[name, textOf(options[name])]] : [],
    ),
  exec: (options) => [...streamsOf(options), ...listOf(options["command"]).map((word): Parameter => ["command", word])],
  attach: (options) => streamsOf(options),
  portforward: (options) => listOf(options["ports"]).map((port) => ["port", port]),
};

/** The kubelet's parameter names differ from the API's. */
function streamsOf(options: Options): Parameter[] {
  const names: readonly Parameter[] = [
    ["stdin", "input"],
    ["stdout", "output"],
    ["stderr", "error"],
    ["tty", "tty"],
  ];
  return names.flatMap(([name, word]) => (options[name] === true ? [[word, "1"]] : []));
}

function said(value: Json | undefined): boolean {
  return value !== undefined && value !== false;
}

function listOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** All options are strings, numbers or booleans. */
function textOf(value: Json | undefined): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      return "";
  }
}
