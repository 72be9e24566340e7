import type { AsyncOptOut, AsyncReceipt, AsyncReports, LateAcceptance } from '../provider.ts';
import { within } from './deadline.ts';
import { readDelivery, type DeliveryPdu, type DeliverySettings } from './delivery.ts';
import { status } from './status.ts';

type Listener<Report> = (report: Report) => Promise<void>;

/** Passes on what the carrier delivers, and says whether it may forget it. */
export class Reports implements AsyncReports {
  readonly #settings: DeliverySettings;
  readonly #storeTimeoutMs: number;
  readonly #open: () => void;
  #receipts: Listener<AsyncReceipt> | undefined;
  #optOuts: Listener<AsyncOptOut> | undefined;
  #acceptances: ((acceptance: LateAcceptance) => void) | undefined;

  /** `open` is called when there is somebody to report to. */
  constructor(settings: DeliverySettings, storeTimeoutMs: number, open: () => void) {
    this.#settings = settings;
    this.#storeTimeoutMs = storeTimeoutMs;
    this.#open = open;
  }

  onReceipt(listener: Listener<AsyncReceipt>): void {
    this.#receipts = listener;
    this.#open();
  }

  onOptOut(listener: Listener<AsyncOptOut>): void {
    this.#optOuts = listener;
  }

  onLateAcceptance(listener: (acceptance: LateAcceptance) => void): void {
    this.#acceptances = listener;
  }

  acceptedLate(acceptance: LateAcceptance): void {
    this.#acceptances?.(acceptance);
  }

  /** Resolves to the status of the answer: not 0 while the report is not stored, so that the carrier sends it again. Never rejects. */
  async deliver(pdu: DeliveryPdu): Promise<number> {
    const delivery = readDelivery(pdu, this.#settings);
    switch (delivery.kind) {
      case 'receipt':
        return this.#receipts === undefined ? status.systemError : this.#tell(this.#receipts, delivery.receipt);
      case 'opt_out':
        return this.#optOuts === undefined ? status.ok : this.#tell(this.#optOuts, delivery.optOut);
      default:
        return status.ok;
    }
  }

  async #tell<Report>(listener: Listener<Report>, report: Report): Promise<number> {
    const stored = async (): Promise<'stored'> => {
      await listener(report);
      return 'stored';
    };
    const end = await within(stored(), this.#storeTimeoutMs).catch(() => 'failed');
    return end === 'stored' ? status.ok : status.systemError;
  }
}
