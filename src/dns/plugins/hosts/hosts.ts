/**
 * Plugin `hosts`: names of a file in the format of /etc/hosts, before all others. The file is read again when it changes; a file that
 * cannot be read keeps the last content. Without a configured file it does nothing.
 */
import { NOT_NEEDED } from "../../../base/abort.ts";
import { readTextIfAny } from "../../../host/files/files.ts";
import { addressOfReverseName } from "../../addresses.ts";
import type { DnsPlugin, DnsQuery, PluginContext, RecordsAnswer, RunningPlugin } from "../../plugin.ts";
import { RCODE, TYPE } from "../../wire/codes.ts";
import { addressRecord, type DnsRecord } from "../../wire/records.ts";
import { parseHosts, type HostsTable } from "./hosts-table.ts";

/** CoreDNS' interval. */
const RELOAD_MS = 5_000;

export const hosts: DnsPlugin = {
  name: "hosts",
  order: 40,
  async start(context): Promise<RunningPlugin> {
    const { file, ttlSeconds } = context.configuration.hosts;
    if (file === undefined) return { async [Symbol.asyncDispose]() {} };
    const stop = new AbortController();
    const table = { current: parseHosts(""), text: "" };
    await load(file, table, context);
    const reloading = follow(file, table, { context, signal: stop.signal });
    return {
      handle: (query, next) => answerHosts(query, table.current, ttlSeconds) ?? next(query),
      async [Symbol.asyncDispose]() {
        stop.abort(NOT_NEEDED);
        await reloading;
      },
    };
  },
};

interface LoadedTable {
  current: HostsTable;
  text: string;
}

async function load(file: string, table: LoadedTable, { clock, log, changedAll }: PluginContext): Promise<void> {
  try {
    const text = await clock.external(readTextIfAny(file));
    if (text === table.text) return;
    table.text = text;
    table.current = parseHosts(text);
    // A name may have been answered by another plugin before.
    changedAll();
  } catch (error) {
    log.warn("Reading the hosts file failed; its last content stays in use", { file, error });
  }
}

async function follow(
  file: string,
  table: LoadedTable,
  of: { readonly context: PluginContext; readonly signal: AbortSignal },
): Promise<void> {
  const { context, signal } = of;
  while (!signal.aborted) {
    await context.clock.sleep(RELOAD_MS, signal).catch(() => undefined);
    if (!signal.aborted) await load(file, table, context);
  }
}

/** Undefined if the name is not in the file. A name without an address of the wanted family exists: NODATA. */
export function answerHosts(
  { name, type }: Pick<DnsQuery, "name" | "type">,
  table: HostsTable,
  ttlSeconds: number,
): RecordsAnswer | undefined {
  const answers = type === TYPE.PTR ? pointers({ name, table, ttlSeconds }) : addresses({ name, table, ttlSeconds });
  if (answers === undefined) return undefined;
  const wanted = answers.filter((record) => type === TYPE.ANY || record.type === type);
  return { is: "records", rcode: RCODE.NOERROR, isAuthoritative: true, answers: wanted, authority: [], additional: [] };
}

interface HostsLookup {
  readonly name: string;
  readonly table: HostsTable;
  readonly ttlSeconds: number;
}

function addresses({ name, table, ttlSeconds }: HostsLookup): readonly DnsRecord[] | undefined {
  return table.addresses.get(name)?.map((bytes) => addressRecord({ name, ttlSeconds, bytes }));
}

function pointers({ name, table, ttlSeconds }: HostsLookup): readonly DnsRecord[] | undefined {
  const names = table.names.get(addressOfReverseName(name) ?? "");
  return names?.map((target) => ({ name, type: TYPE.PTR, ttlSeconds, data: { is: "name", name: target } }));
}
