/** Calls the admission plugins in their order, and combines their charges. The contract is framework/admission.ts. */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Admission, AdmissionPlugin, AdmissionRequest, Charge, Reinvocation } from "../framework/admission.ts";

export class AdmissionChain implements Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined);
  }

  async mutate(request: AdmissionRequest, object: KubeObject): Promise<KubeObject> {
    const rounds = new Rounds();
    const once = await this.#mutateOnce({ ...request, object, reinvocation: rounds });
    if (!rounds.isRequired) return once.object;
    rounds.isSecondRound = true;
    return (await this.#mutateOnce(once)).object;
  }

  async #mutateOnce(request: MutatedRequest): Promise<MutatedRequest> {
    let current = request;
    for (const plugin of this.#mutating) {
      // Most plugins ignore most requests; then nothing is awaited.
      const answer = plugin.mutate?.(current);
      const changed = answer instanceof Promise ? await answer : answer;
      if (changed !== undefined) current = { ...current, object: changed };
    }
    return current;
  }

  /** If one plugin rejects, the charges of the others are refunded. */
  async validate(request: AdmissionRequest): Promise<Charge> {
    const charges: Charge[] = [];
    if (request.operation === "DELETE") await this.#mutateDelete(request);
    try {
      for (const plugin of this.#validating) {
        const answer = plugin.validate?.(request);
        const charge = answer instanceof Promise ? await answer : answer;
        if (charge !== undefined) charges.push(charge);
      }
    } catch (error) {
      await settleAll(charges, false);
      throw error;
    }
    if (charges.length === 0) return NO_CHARGE;
    return { alongside: charges.flatMap(({ alongside = [] }) => alongside), settle: (written) => settleAll(charges, written) };
  }

  async #mutateDelete(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      const answer = plugin.mutateDelete?.(request);
      if (answer instanceof Promise) await answer;
    }
  }

  async start(): Promise<void> {
    for (const plugin of this.#plugins) await plugin.start?.();
  }
}

type MutatedRequest = AdmissionRequest & { readonly object: KubeObject };

class Rounds implements Reinvocation {
  isSecondRound = false;
  isRequired = false;
  readonly state = new Map<string, unknown>();

  invokeAgain(): void {
    this.isRequired = true;
  }
}

const NO_CHARGE: Charge = { settle() {} };

async function settleAll(charges: readonly Charge[], written: boolean): Promise<void> {
  for (const charge of charges) await charge.settle(written);
}
