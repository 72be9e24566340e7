/** GSM 03.38 basic and extension tables; an extension character takes two septets. */
const GSM_TEXT = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà\f^{}\\[~\]|€]*$/;
const GSM_EXTENSION = /[\f^{}\\[~\]|€]/g;

export function isGsmText(text: string): boolean {
  return GSM_TEXT.test(text);
}

/** How many SMS a text takes, counted as the upstreams bill it. */
export function segmentCount(text: string): number {
  if (!isGsmText(text)) return text.length <= 70 ? 1 : Math.ceil(text.length / 67);
  const septets = text.length + (text.match(GSM_EXTENSION)?.length ?? 0);
  return septets <= 160 ? 1 : Math.ceil(septets / 153);
}
