/** `k8ts why`: explains the state of an object, or the refusal of a request, and what would change it. */
import { writeYaml } from "../../../api/machinery/codec/yaml/write.ts";
import { escapeControls } from "../../../base/text.ts";
import type { Json } from "../../../api/machinery/object.ts";
import { openAdminClient, tokenConnection, tokenFlags, type TokenConnection } from "../../../cluster/tokens/token-connection.ts";
import { copyCluster } from "../../../explain/live/cluster-copy.ts";
import { findSubject } from "../../../explain/live/find-subject.ts";
import { kubectlCommands } from "../../../explain/live/kubectl-commands.ts";
import { readView } from "../../../explain/live/read-view.ts";
import { tryRemedies } from "../../../explain/live/try-remedies.ts";
import type { ClusterView, Subject } from "../../../explain/why/cluster-view.ts";
import { nameOf, type Explanation } from "../../../explain/why/explainer.ts";
import { whyLines, type ShownRemedy, type ShownWhy } from "../../../explain/why/why-text.ts";
import { rootsOf, why as whyOf } from "../../../explain/why/why.ts";
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
    const view = await readView({ client, nowMs: io.clock.now(), at });
    const result = whyOf(view, subject);
    if (result.is === "missing")
      throw new Error(`Cannot explain ${nameOf(subject)}: it does not exist${at === undefined ? "" : ` at ${at}`}`);
    if (result.is === "healthy") return showHealthy(subject, view, format, io.out);
    const remedy = await remedyOf(view, subject, result.explanation, tries && at === undefined);
    const origin = view.origin(subject);
    show({ finding: result.explanation.finding, origin, remedy, unread: view.unread }, result.explanation, format, io.out);
  },
});

export const why: Command<WhyOptions> = {
  ...longWhy,
  parse: (argv, environment) => longWhy.parse(expandShortFlags(argv, { n: "namespace", o: "output" }), environment),
};

async function remedyOf(view: ClusterView, subject: Subject, explanation: Explanation, tries: boolean): Promise<ShownRemedy> {
  if (!tries) return { is: "not tried" };
  const trials = await tryRemedies(view, subject, explanation, copyCluster);
  if (trials.is !== "verified") return trials;
  return { is: "verified", text: trials.remedy.text, commands: kubectlCommands(trials.remedy.changes) };
}

function showHealthy(subject: Subject, view: ClusterView, format: WhyOptions["format"], out: (line: string) => void): void {
  const text = `Nothing is wrong with ${nameOf(subject)} as far as it is known`;
  if (format === "text")
    return [text, ...view.unread.map((line) => `  not read: ${line}`)].map(escapeControls).forEach((line) => out(line));
  print({ healthy: true, text, unread: [...view.unread] }, format, out);
}

function show(shown: ShownWhy, explanation: Explanation, format: WhyOptions["format"], out: (line: string) => void): void {
  if (format === "text") return whyLines(shown).forEach(out);
  print(JSON.parse(JSON.stringify({ healthy: false, roots: rootsOf(explanation), ...shown })) as Json, format, out);
}

function print(value: Json, format: "json" | "yaml", out: (line: string) => void): void {
  out(format === "json" ? JSON.stringify(value, undefined, 2) : writeYaml(value).trimEnd());
}
