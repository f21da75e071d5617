// Words for the codes of previews, tools and records, in both languages. Invariant: a code without words is shown as it
// stands, never hidden.

import type { Lang } from "../state/prefs";
import { marked } from "./hidden";

type Pair = readonly [zh: string, en: string];

const TOOLS: Record<string, Pair> = {
  find_products: ["找商品", "Find products"],
  get_product: ["看商品", "Look at a product"],
  check_stock: ["查库存", "Check stock"],
  get_price: ["查价格", "Get prices"],
  preview_quote: ["试算报价", "Preview a quotation"],
  create_quotation: ["新建报价单", "Create a quotation"],
  find_orders: ["找订单", "Find orders"],
  get_order: ["查订单", "Look up an order"],
  find_customers: ["找客户", "Find customers"],
  get_customer: ["看客户", "Look at a customer"],
  get_supplier_prices: ["查供应商价格", "Get supplier prices"],
  update_price: ["改价格", "Change a price"],
  create_order: ["新建订单", "Create an order"],
  confirm_order: ["确认订单", "Confirm an order"],
  cancel_order: ["取消订单", "Cancel an order"],
  adjust_stock: ["调整库存", "Adjust stock"],
  record_payment: ["登记收款", "Record a payment"],
  sales_report: ["销售报表", "Sales report"],
  stock_report: ["库存报表", "Stock report"],
  read_output: ["看完整输出", "Read the whole output"],
  find_tools: ["找工具", "Find tools"],
};

const TITLES: Record<string, Pair> = {
  new_quotation: ["新报价单", "New quotation"],
  low: ["库存偏低", "Low stock"],
  slow: ["滞销库存", "Slow stock"],
  value: ["库存金额", "Value of stock"],
  negative: ["负库存", "Negative stock"],
};

const FIELDS: Record<string, Pair> = {
  customer: ["客户", "customer"],
  price_list: ["价目表", "price list"],
  line: ["明细", "line"],
  discount_percent: ["折扣%", "discount %"],
  tax_included: ["税额（已含）", "tax (included)"],
  tax_added: ["税额（另加）", "tax (added)"],
  total: ["合计", "total"],
  valid_until: ["有效期至", "valid until"],
  note: ["备注", "note"],
};

const NOTICES: Record<string, Pair> = {
  short: ["{sku} {name} 缺 {missing}，到货日期未知。", "Short of {sku} {name}: {missing} missing, no date known."],
  short_until: [
    "{sku} {name} 缺 {missing}，{day} 可齐。",
    "Short of {sku} {name}: {missing} missing, complete on {day}.",
  ],
  below_minimum: ["{sku} {name}：低于起订量 {minimum}。", "{sku} {name}: less than the minimum of {minimum}."],
};

const COLUMNS: Record<string, Pair> = {
  number: ["单号", "number"],
  sku: ["货号", "SKU"],
  name: ["名称", "name"],
  specification: ["规格", "specification"],
  unit: ["单位", "unit"],
  qty: ["数量", "quantity"],
  ordered: ["订购", "ordered"],
  delivered: ["已发", "delivered"],
  open: ["未发", "open"],
  reserved: ["占用", "reserved"],
  on_hand: ["在库", "on hand"],
  available: ["可用", "available"],
  incoming: ["在途", "incoming"],
  shortage: ["缺", "short"],
  wanted: ["需要", "wanted"],
  enough: ["够", "enough"],
  complete_on: ["可齐", "complete on"],
  unit_price: ["单价", "unit price"],
  list_price: ["标价", "list price"],
  amount: ["金额", "amount"],
  tax: ["税额", "tax"],
  tax_rate: ["税率", "tax rate"],
  total: ["合计", "total"],
  subtotal: ["小计", "subtotal"],
  customer: ["客户", "customer"],
  party: ["往来单位", "party"],
  date: ["日期", "date"],
  state: ["状态", "state"],
  warehouse: ["仓库", "warehouse"],
  currency: ["币种", "currency"],
  valid_until: ["有效期至", "valid until"],
  as_of: ["截至", "as of"],
  days: ["天", "days"],
  valid_days: ["有效天数", "valid days"],
  lines: ["明细", "lines"],
  skus: ["货号", "SKUs"],
  quantities: ["数量", "quantities"],
  base_unit: ["基本单位", "base unit"],
  base_qty: ["基本数量", "base quantity"],
  in_unit: ["按包装", "by package"],
  incoming_unconfirmed: ["在途未确认", "incoming, unconfirmed"],
  warehouses: ["仓库", "warehouses"],
  units: ["单位", "units"],
  line: ["行", "line"],
  kind: ["类型", "kind"],
  party_id: ["编号", "id"],
  id: ["编号", "id"],
  promised: ["承诺交期", "promised"],
  shipped: ["发货", "shipped"],
  invoiced: ["开票", "invoiced"],
  returned: ["退货", "returned"],
  cancelled: ["取消", "cancelled"],
  price_origin: ["价格来源", "price from"],
  tax_included: ["含税", "tax included"],
  discount_percent: ["折扣%", "discount %"],
  paid: ["已付", "paid"],
  unpaid: ["未付", "unpaid"],
  deliveries: ["发货", "deliveries"],
  payments: ["收款", "payments"],
  note: ["备注", "note"],
  rule: ["规则", "rule"],
  next_tier: ["下一档", "next tier"],
  min_qty: ["起订量", "minimum"],
  below_minimum: ["低于起订", "below minimum"],
  undo: ["撤销", "undo"],
  other_matches: ["其他匹配", "other matches"],
  version: ["版本", "version"],
  method: ["方式", "method"],
  carrier: ["承运", "carrier"],
  tracking: ["运单", "tracking"],
  products: ["商品", "products"],
  price_list: ["价目表", "price list"],
};

/** A model may ask for a tool of any name. */
export const toolName = (code: string, lang: Lang) => marked(one(TOOLS, code, lang));
export const titleText = (code: string, lang: Lang) => one(TITLES, code, lang);
export const columnName = (code: string, lang: Lang) => one(COLUMNS, code, lang);

/** The name of a field or a measure; what follows a space in its code (a number, a currency) stays behind it. */
export function fieldName(code: string, lang: Lang): string {
  const [base = code, ...rest] = code.split(" ");
  return [one(FIELDS, base, lang), ...rest].join(" ");
}

export function noticeText(code: string, values: Record<string, string>, lang: Lang): string {
  const pair = NOTICES[code];
  if (!pair) return [code, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)].join(" ");
  return pair[lang === "zh" ? 0 : 1].replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

function one(table: Record<string, Pair>, code: string, lang: Lang): string {
  const pair = Object.hasOwn(table, code) ? table[code] : undefined;
  return pair ? pair[lang === "zh" ? 0 : 1] : code;
}
