/**
 * Charges quotas for writes. The usage of a write is charged in the commit of the write itself, so neither a crash nor another server can
 * separate them. Of several quotas all but one are charged in advance, since a commit changes one object of a resource. Within one server
 * the writes of a namespace are serialized, so that only servers conflict and not all their clients.
 *
 * A delete releases nothing here. No write is rejected because of a stale status: usage is recounted first, and then written. Not here:
 * keeping the status up to date between writes (controllers/resource-quota).
 */
import type { ResourceQuota } from "../../../api/generated/core/v1.ts";
import { addAmounts, amountsOf, type Amounts } from "../../../api/core/v1/resource-quota/amounts.ts";
import { justNow, type QuotaEvaluator, type QuotaWrite } from "../../../api/core/v1/resource-quota/evaluator.ts";
import { hardNames } from "../../../api/core/v1/resource-quota/evaluators.ts";
import { conflict } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionRequest, Charge } from "../../framework/admission.ts";
import { isOf, refused } from "../../shared/admission-request.ts";
import type { ByNamespace } from "../../shared/by-namespace.ts";
import { SerialQueue } from "../../shared/serial-queue.ts";
import { isAbout, isCounted, requestedFrom, whyTooMuch, whyUncountable, type QuotaQuestion } from "./demand.ts";
import { isWrittenDown, quotaOf, QuotaUsage, QUOTAS, type Mark } from "./quota-usage.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";

/** Maximum conflicts on a quota charged in advance before the client receives a Conflict. */
const ATTEMPTS_MAX = 16;

export interface QuotaCall {
  readonly request: AdmissionRequest;
  readonly evaluator: QuotaEvaluator;
  readonly write: QuotaWrite;
}

/** A quota to be charged. */
interface Account {
  readonly stored: StoredObject;
  /** Status with the usage of the write. */
  readonly used: Amounts;
  /** Status without it, if usage was recounted because the status was incomplete: then the mark is written as well. */
  readonly counted?: Amounts;
  /** Why the quota rejects the write. */
  readonly refusal?: string;
}

/** One attempt to charge all quotas that a write affects. */
interface Charging {
  readonly request: AdmissionRequest;
  readonly question: QuotaQuestion;
  /** Read when first needed, then kept: the older mark is the stronger condition. */
  mark?: Mark;
}

export class QuotaCharger {
  readonly #dependencies: AdmissionDependencies;
  readonly #quotas: ByNamespace<ResourceQuota>;
  readonly #usage: QuotaUsage;
  /** Keyed by namespace; only namespaces with writes in progress. */
  readonly #turns = new Map<string, SerialQueue>();
  /** Quotas by namespace with charges in advance that were not used. */
  readonly #owed = new Map<string, Set<string>>();

  constructor(dependencies: AdmissionDependencies, quotas: ByNamespace<ResourceQuota>) {
    this.#dependencies = dependencies;
    this.#quotas = quotas;
    this.#usage = new QuotaUsage(dependencies);
  }

  /** undefined: no quota is charged. */
  async charge(call: QuotaCall): Promise<Charge | undefined> {
    const { request } = call;
    const question = await this.#question(call);
    // Most updates charge nothing, and need not wait for their turn to find out.
    if (this.#concerned(request, question).length === 0) return undefined;
    const end = await this.#beginTurn(request.namespace);
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        request.context.signal?.throwIfAborted();
        const charge = await this.#tryToCharge({ request, question }, end);
        if (charge !== undefined) return charge;
      }
      throw conflict(request.endpoint.name, request.name);
    } catch (error) {
      await end();
      throw error;
    }
  }

  async #question({ request, evaluator, write }: QuotaCall): Promise<QuotaQuestion> {
    // Only ResourceClaims depend on other objects.
    const isClaim = evaluator.group === "resource.k8s.io" && evaluator.plural === "resourceclaims";
    const surroundings = isClaim ? await this.#usage.surroundings(request.namespace) : justNow(this.#dependencies.clock.now());
    return { evaluator, write, surroundings };
  }

  /** Returns the quotas that the write charges. */
  #concerned(request: AdmissionRequest, question: QuotaQuestion): readonly ResourceQuota[] {
    return this.#quotas.of(request.namespace).filter((quota) => amountFrom(quota, question, request) !== undefined);
  }

  /** undefined on a conflict. */
  async #tryToCharge(charging: Charging, end: () => Promise<void>): Promise<Charge | undefined> {
    const { request, question } = charging;
    const { namespace } = request;
    const quotas = this.#concerned(request, question);
    // A commit changes one object of a resource: a quota, or the quota that is being created.
    const isAlone = quotas.length === 1 && !isOf(request, QUOTAS);
    if (!isAlone) charging.mark = await this.#usage.readMark(namespace);
    // All quotas are checked before anything is written.
    const found: Account[] = [];
    for (const quota of quotas) {
      const account = await this.#find(quota.metadata.name, charging);
      if (account !== undefined) found.push(account);
      if (account?.refusal === undefined) continue;
      await this.#show(found, charging);
      throw refused(request, account.refusal);
    }
    if (request.dryRun) return { settle: end };
    const [together, ahead] = isOf(request, QUOTAS) ? [[], found] : [found.slice(0, 1), found.slice(1)];
    if (!(await this.#chargeInAdvance(ahead, charging))) return undefined;
    const entries = together.map(({ stored, used }) => this.#usage.entry(stored, used));
    const marks = charging.mark === undefined ? [] : [this.#usage.markEntry(namespace, charging.mark)];
    return {
      alongside: [...entries, ...marks],
      settle: async (written) => {
        if (!written) this.#owe(namespace, ahead);
        await end();
      },
    };
  }

  /** Returns the current quota with the usage of the write; undefined if it is no longer charged. */
  async #find(name: string, charging: Charging): Promise<Account | undefined> {
    const { request, question } = charging;
    const { namespace } = request;
    const stored = await this.#usage.read({ namespace, name });
    const requested = stored === undefined ? undefined : amountFrom(quotaOf(stored), question, request);
    if (stored === undefined || requested === undefined) return undefined;
    const quota = quotaOf(stored);
    const names = question.evaluator.namesAmong(hardNames(quota), question.surroundings);
    const kept = isCounted(quota, names) ? amountsOf(quota.status?.used) : undefined;
    if (kept !== undefined && whyNot(request, quota, { used: kept, requested }) === undefined) {
      return { stored, used: addAmounts(kept, requested) };
    }
    if (charging.mark === undefined) {
      charging.mark = await this.#usage.readMark(namespace);
      // Must be read after the mark: otherwise another server could charge in advance and mark later.
      return this.#find(name, charging);
    }
    const counted = await this.#usage.count(quota);
    const refusal = whyNot(request, quota, { used: counted, requested });
    return { stored, used: addAmounts(counted, requested), counted, ...(refusal === undefined ? {} : { refusal }) };
  }

  /** Writes the usage recounted for a rejected write. Its success does not affect any request. */
  async #show(accounts: readonly Account[], charging: Charging): Promise<void> {
    const { namespace, dryRun } = charging.request;
    if (dryRun) return;
    for (const { stored, counted } of accounts) {
      if (counted === undefined || isWrittenDown(stored, counted)) continue;
      try {
        const isWritten = await this.#chargeOne({ stored, used: counted, counted }, charging);
        // On a conflict the local state is stale.
        if (!isWritten) return;
      } catch (error) {
        const quota = `${namespace}/${stored.object.metadata.name}`;
        this.#dependencies.log.warn("Writing the recounted usage of a quota failed", { quota, error });
        return;
      }
    }
  }

  /** False on a conflict. Whatever was, or may have been, charged by then is to be released. */
  async #chargeInAdvance(accounts: readonly Account[], charging: Charging): Promise<boolean> {
    const { namespace } = charging.request;
    let isDone = false;
    try {
      for (const account of accounts) if (!(await this.#chargeOne(account, charging))) return false;
      isDone = true;
      return true;
    } finally {
      if (!isDone) this.#owe(namespace, accounts);
    }
  }

  async #chargeOne({ stored, used, counted }: Account, charging: Charging): Promise<boolean> {
    const { namespace, context } = charging.request;
    const wasCounted = counted !== undefined;
    const alongside = wasCounted ? [this.#usage.markEntry(namespace, charging.mark as Mark)] : [];
    const revision = await this.#usage.write(stored, used, { alongside, context });
    if (revision !== undefined && wasCounted) charging.mark = revision;
    return revision !== undefined;
  }

  #owe(namespace: string, accounts: readonly Account[]): void {
    if (accounts.length === 0) return;
    const names = this.#owed.get(namespace) ?? new Set();
    for (const { stored } of accounts) names.add(stored.object.metadata.name);
    this.#owed.set(namespace, names);
  }

  async #beginTurn(namespace: string): Promise<() => Promise<void>> {
    const queue = this.#turns.get(namespace) ?? new SerialQueue(this.#dependencies.clock);
    this.#turns.set(namespace, queue);
    const end = await queue.begin();
    return async () => {
      // Left to the last waiting write: recounting causes conflicts on other servers.
      const isLast = queue.length <= 1;
      if (isLast) await this.#payBack(namespace);
      end();
      if (isLast && queue.length <= 1) this.#turns.delete(namespace);
    };
  }

  /** By recounting: only the stored objects show whether an unacknowledged write happened. */
  async #payBack(namespace: string): Promise<void> {
    const names = this.#owed.get(namespace) ?? [];
    this.#owed.delete(namespace);
    for (const name of names) {
      try {
        await this.#usage.recount({ namespace, name });
      } catch (error) {
        // The excess stays charged until a write would be rejected because of it and recounts.
        this.#dependencies.log.warn("Releasing a quota charge failed", { quota: `${namespace}/${name}`, error });
      }
    }
  }
}

/** Returns the usage charged to a quota; undefined if none. Throws if the object lacks fields needed to count it. */
function amountFrom(quota: ResourceQuota, question: QuotaQuestion, request: AdmissionRequest): Amounts | undefined {
  if (!isAbout(quota, question)) return undefined;
  const why = whyUncountable(quota, question);
  if (why !== undefined) throw refused(request, why);
  const requested = requestedFrom(quota, question);
  return requested.size === 0 ? undefined : requested;
}

/** The status of a claim reports what is already allocated, so it cannot be rejected. */
function whyNot(
  { subresource }: AdmissionRequest,
  quota: ResourceQuota,
  amounts: { readonly used: Amounts; readonly requested: Amounts },
): string | undefined {
  return subresource === "status" ? undefined : whyTooMuch(quota, amounts);
}
