/** `k8ts why`: explains the state of an object, or the refusal of a request, and what would change it. */
import { writeYaml } from "../../../api/machinery/codec/yaml/write.ts";
import type { Json } from "../../../api/machinery/object.ts";
import { openAdminClient, tokenConnection, tokenFlags, type TokenConnection } from "../../../cluster/tokens/token-connection.ts";
import { copyCluster } from "../../../explain/live/cluster-copy.ts";
import { answerLines, explainObject } from "../../../explain/live/explain-object.ts";
import { findSubject } from "../../../explain/live/find-subject.ts";
import { defineCommand, type Command } from "../../framework/command.ts";
import { expandShortFlags } from "../../framework/short-flags.ts";

interface WhyOptions {
  readonly connection: TokenConnection;
  readonly namespace: string;
  readonly object?: string;
  readonly request?: string;
  readonly at?: string;
  readonly format: "text" | "json" | "yaml";
  readonly tries: boolean;
}

const longWhy = defineCommand({
  description:
    "Explain why an object is as it is: the chain of causes down to the root cause, and what would change it. A remedy is printed only if it worked on a copy of the cluster's state with simulated nodes and virtual time; nothing is changed in the cluster itself. What is not known is said.",
  flags: {
    ...tokenFlags,
    namespace: { type: "string", placeholder: "NAMESPACE", default: "default", doc: "Namespace of the object. Short form: -n." },
    request: { type: "string", placeholder: "ID", doc: "Explain a refused request by the Audit-Id of its response, instead of an object." },
    at: {
      type: "string",
      placeholder: "TIME",
      doc: "Explain the state at a revision or a time (RFC 3339) that the store still has. No remedies are tried.",
    },
    try: { type: "boolean", default: true, doc: "Try remedies on a copy of the cluster's state." },
    output: { type: "choice", of: ["text", "json", "yaml"], placeholder: "FORMAT", default: "text", doc: "Output format. Short form: -o." },
  },
  arguments: { object: { doc: "The object: pod/web, deploy/web, any kind; dns/NAME for a name in the cluster's DNS.", optional: true } },
  examples: [
    "k8ts why pod/web",
    "k8ts why deploy/web -n shop",
    "k8ts why dns/web.shop",
    "k8ts why --request 6f1c1a52-…",
    "k8ts why pod/web --at 2026-11-17T13:00:00Z",
  ],

  options(values, environment) {
    const connection = tokenConnection(values, environment);
    if (!connection.ok) return connection;
    const { object, request, at, namespace, output: format } = values;
    if ((object === undefined) === (request === undefined))
      return { ok: false, problems: ["Name either an object, as in k8ts why pod/web, or a request with --request"] };
    const optional = {
      ...(object === undefined ? {} : { object }),
      ...(request === undefined ? {} : { request }),
      ...(at === undefined ? {} : { at }),
    };
    return { ok: true, options: { connection: connection.options, namespace, format, tries: values.try, ...optional } };
  },

  async run({ connection, namespace, object = "", request, at, format, tries }: WhyOptions, io) {
    await using opened = await openAdminClient(connection, io, { operation: "explain", userAgent: "k8ts-why" });
    const { client } = opened;
    const subject =
      request === undefined ? await findSubject(object, namespace, client) : { resource: "requests", namespace: "", name: request };
    const answer = await explainObject(subject, { client, nowMs: io.clock.now(), at, copyCluster: tries ? copyCluster : undefined });
    if (format === "text") answerLines(answer).forEach((line) => io.out(line));
    else print(JSON.parse(JSON.stringify(answer)) as Json, format, io.out);
  },
});

export const why: Command<WhyOptions> = {
  ...longWhy,
  parse: (argv, environment) => longWhy.parse(expandShortFlags(argv, { n: "namespace", o: "output" }), environment),
};

function print(value: Json, format: "json" | "yaml", out: (line: string) => void): void {
  out(format === "json" ? JSON.stringify(value, undefined, 2) : writeYaml(value).trimEnd());
}
