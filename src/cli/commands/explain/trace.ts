/** `k8ts trace`: prints what an apply set in motion. */
import type { JsonObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { errorOfStatus } from "../../../api/machinery/wire/status-response.ts";
import {
  openAdminClient,
  tokenConnection,
  tokenFlags,
  type TokenClient,
  type TokenConnection,
} from "../../../cluster/tokens/token-connection.ts";
import type { Client } from "../../../client/client.ts";
import { CAUSES_PATH, type CauseEvent, type CauseItem, type CauseList } from "../../../explain/explain-api.ts";
import { findSubject } from "../../../explain/live/find-subject.ts";
import type { Subject } from "../../../explain/why/cluster-view.ts";
import { Trace, traceLine, traceRoot, traceTree } from "../../../explain/trace.ts";
import { nameOf } from "../../../explain/why/explainer.ts";
import { defineCommand, type Command, type Io } from "../../framework/command.ts";
import { expandShortFlags } from "../../framework/short-flags.ts";

interface TraceOptions {
  readonly connection: TokenConnection;
  readonly namespace: string;
  readonly object: string;
  readonly follows: boolean;
}

/** Wait before a watch that ended is repeated. */
const RETRY_MS = 1_000;

const longTrace = defineCommand({
  description:
    "Print what the last apply of an object set in motion: every write that followed from it, which component made it, and why, as an indented tree with times and revisions.",
  flags: {
    ...tokenFlags,
    namespace: { type: "string", placeholder: "NAMESPACE", default: "default", doc: "Namespace of the object. Short form: -n." },
    follow: { type: "boolean", doc: "Follow further writes until Ctrl-C, in the order in which they are recorded. Short form: -f." },
  },
  arguments: { object: { doc: "The object: deploy/web, pod/web, any kind." } },
  examples: ["k8ts trace deploy/web", "k8ts trace deploy/web -n shop -f"],

  options(values, environment) {
    const connection = tokenConnection(values, environment);
    if (!connection.ok) return connection;
    return {
      ok: true,
      options: { connection: connection.options, namespace: values.namespace, object: values.object, follows: values.follow },
    };
  },

  async run({ connection, namespace, object, follows }: TraceOptions, io) {
    await using opened = await openAdminClient(connection, io, { operation: "trace", userAgent: "k8ts-trace" });
    const subject = await findSubject(object, namespace, opened.client);
    const { items, metadata } = await causesAfter(opened.client, 0);
    const root = traceRoot(items, subject);
    if (root === undefined) throw new Error(`Cannot trace ${nameOf(subject)}: no write of it is recorded any more`);
    traceTree(items, root).forEach((write) => io.out(traceLine(write)));
    if (follows) await follow(opened, { root, subject, items, afterId: metadata.newest }, io);
  },
});

export const trace: Command<TraceOptions> = {
  ...longTrace,
  parse: (argv, environment) => longTrace.parse(expandShortFlags(argv, { n: "namespace", f: "follow" }), environment),
};

interface Followed {
  readonly root: CauseItem;
  readonly subject: Subject;
  readonly items: readonly CauseItem[];
  readonly afterId: number;
}

/** Watches the record. After a lost connection it continues with the next record, also if the server has a new, shorter one. */
async function follow(
  { client, transport }: Pick<TokenClient, "client" | "transport">,
  { root, subject, items, afterId }: Followed,
  { out, clock, signal }: Io,
): Promise<void> {
  const traced = new Trace(root, subject);
  // What was recorded before the last write of a user is not followed.
  items.filter(({ id }) => id >= root.id).forEach((item) => traced.add(item));
  let after = afterId;
  const print = (item: CauseItem) => {
    after = Math.max(after, item.id);
    traced.add(item).forEach((write) => out(traceLine(write)));
  };
  while (!signal.aborted) {
    try {
      const { items: news, metadata } = await causesAfter(client, after);
      after = metadata.newest;
      news.forEach(print);
      await transport.lines(`${CAUSES_PATH}?watch=true&outcome=committed&after=${after}`, {
        signal,
        line: (bytes) => print(recordedItem(bytes)),
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!isReason(error, "ServiceUnavailable") && !isReason(error, "Expired")) throw error;
    }
    await clock.sleep(RETRY_MS, signal).catch(() => undefined);
  }
}

/** Throws the error of a watch that the server ends. */
function recordedItem(line: Uint8Array): CauseItem {
  const event = JSON.parse(new TextDecoder().decode(line)) as CauseEvent;
  if (event.type === "ERROR") throw errorOfStatus(event.object as JsonObject);
  return event.object;
}

async function causesAfter(client: Client, after: number): Promise<CauseList> {
  const document: unknown = await client.document(`${CAUSES_PATH}?outcome=committed&after=${after}`);
  return document as CauseList;
}
