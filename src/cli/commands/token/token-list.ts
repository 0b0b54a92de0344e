/** `k8ts token list`: lists the bootstrap tokens of a cluster. */
import { secrets } from "../../../api/core/v1/secret.ts";
import { BOOTSTRAP_TOKEN_NAMESPACE, BOOTSTRAP_TOKEN_TYPE } from "../../../api/core/v1/secret/bootstrap-token.ts";
import { humanDuration } from "../../../api/machinery/duration.ts";
import { shownToken, type ShownToken } from "../../../cluster/tokens/bootstrap-tokens.ts";
import { openTokenClient, tokenConnection, tokenFlags, type TokenConnection } from "../../../cluster/tokens/token-connection.ts";
import { defineCommand, type Command } from "../../framework/command.ts";
import { expandShortFlags } from "../../framework/short-flags.ts";

interface ListOptions {
  readonly connection: TokenConnection;
  readonly format: "text" | "json";
}

const longList = defineCommand({
  description: "List the bootstrap tokens of a cluster, with their expiration, usages and groups.",
  flags: {
    ...tokenFlags,
    output: { type: "choice", of: ["text", "json"], placeholder: "FORMAT", default: "text", doc: "Output format. Short form: -o." },
  },
  arguments: {},
  examples: ["k8ts token list", "k8ts token list -o json"],

  options(values, environment) {
    const connection = tokenConnection(values, environment);
    return connection.ok ? { ok: true, options: { connection: connection.options, format: values.output } } : connection;
  },

  async run({ connection, format }: ListOptions, io) {
    await using opened = await openTokenClient(connection, io);
    const fieldSelector = `type=${BOOTSTRAP_TOKEN_TYPE}`;
    const { items } = await opened.client.list(secrets, { namespace: BOOTSTRAP_TOKEN_NAMESPACE, fieldSelector });
    const tokens = items.map((secret) => shownToken(secret, io.clock.now()));
    if (format === "json") return io.out(JSON.stringify(tokens, undefined, 2));
    for (const line of tokenLines(tokens)) io.out(line);
  },
});

export const tokenList: Command<ListOptions> = {
  ...longList,
  parse: (argv, environment) => longList.parse(expandShortFlags(argv, { o: "output" }), environment),
};

const HEADINGS = ["TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "EXTRA GROUPS"];

/** kubeadm's columns. */
export function tokenLines(tokens: readonly ShownToken[]): readonly string[] {
  const rows = tokens.map(({ token, ttlMs, expires, usages, description, groups }) => [
    token,
    ttlMs === undefined ? "<forever>" : humanDuration(ttlMs),
    expires ?? "<never>",
    usages.length === 0 ? "<none>" : usages.join(","),
    description ?? "<none>",
    groups.length === 0 ? "<none>" : groups.join(","),
  ]);
  const table = [HEADINGS, ...rows];
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}
