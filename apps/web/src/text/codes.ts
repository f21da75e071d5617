// Words for the codes of previews, tools and records, in both languages: those of the server, and a few of the page's own.
// Invariant: a code without words is shown as it stands, never hidden.

import type { Lang } from "../state/prefs";
import { marked } from "./hidden";
import { CHECKS, COLUMNS, FIELDS, IMPORT_KINDS, NOTICES, type Pair, TITLES } from "./shopwords";

const TOOLS: Record<string, Pair> = {
  find_products: ["Find products", "找商品"],
  get_product: ["Look at a product", "看商品"],
  check_stock: ["Check stock", "查库存"],
  get_price: ["Get prices", "查价格"],
  preview_quote: ["Preview a quotation", "试算报价"],
  create_quotation: ["Create a quotation", "新建报价单"],
  find_orders: ["Find orders", "找订单"],
  get_order: ["Look up an order", "查订单"],
  find_customers: ["Find customers", "找客户"],
  get_customer: ["Look at a customer", "看客户"],
  get_supplier_prices: ["Get supplier prices", "查供应商价格"],
  create_order: ["Create an order", "新建订单"],
  cancel_order: ["Cancel an order", "取消订单"],
  adjust_stock: ["Adjust stock", "调整库存"],
  record_payment: ["Record a payment", "登记收款"],
  sales_report: ["Sales report", "销售报表"],
  stock_report: ["Stock report", "库存报表"],
  read_output: ["Read the whole output", "看完整输出"],
  find_tools: ["Find tools", "找工具"],
  get_quotation: ["Look up a quotation", "看报价单"],
  find_purchases: ["Find purchase orders", "找采购单"],
  suggest_purchases: ["What to buy", "补货建议"],
  list_receivables: ["What customers owe", "应收款"],
  list_payables: ["What is owed to suppliers", "应付款"],
  customer_statement: ["Statement of a customer", "对账单"],
  get_history: ["History of a record", "改动记录"],
  list_approvals: ["What waits for approval", "待批清单"],
  quiet_customers: ["Customers who went quiet", "久未下单的客户"],
  confirm_quotation: ["Turn a quotation into an order", "报价转订单"],
  update_draft: ["Change a draft", "修改草稿"],
  deliver_order: ["Deliver an order", "发货"],
  return_order: ["Take goods back", "退货"],
  transfer_stock: ["Move between warehouses", "调拨"],
  refund: ["Refund", "退款"],
  create_purchase_order: ["Create a purchase order", "新建采购单"],
  create_customer: ["Create a customer", "新建客户"],
  set_prices: ["Change prices", "调价"],
  undo_change: ["Take a change back", "撤销改动"],
  recall: ["Look back in the conversation", "回看对话"],
  read_import_file: ["Read a file to import", "读取导入文件"],
  apply_import: ["Import a file", "导入文件"],
  export_table: ["Export a table", "导出表格"],
};

/** Kinds of reports, as the headings of their plots. */
const REPORTS: Record<string, Pair> = {
  low: ["Low stock", "库存偏低"],
  slow: ["Slow stock", "滞销库存"],
  value: ["Value of stock", "库存金额"],
  negative: ["Negative stock", "负库存"],
};

/** Parts of results that no list has as a column. */
const PARTS: Record<string, Pair> = {
  shortage: ["short", "缺"],
  wanted: ["wanted", "需要"],
  enough: ["enough", "够"],
  complete_on: ["complete on", "可齐"],
  valid_days: ["valid days", "有效天数"],
  lines: ["lines", "明细"],
  skus: ["SKUs", "货号"],
  quantities: ["quantities", "数量"],
  in_unit: ["by package", "按包装"],
  incoming_unconfirmed: ["incoming, unconfirmed", "在途未确认"],
  warehouses: ["warehouses", "仓库"],
  units: ["units", "单位"],
  price_origin: ["price from", "价格来源"],
  paid: ["paid", "已付"],
  unpaid: ["unpaid", "未付"],
  deliveries: ["deliveries", "发货"],
  payments: ["payments", "收款"],
  next_tier: ["next tier", "下一档"],
  min_qty: ["minimum", "起订量"],
  below_minimum: ["below minimum", "低于起订"],
  undo: ["undo", "撤销"],
  other_matches: ["other matches", "其他匹配"],
  version: ["version", "版本"],
  carrier: ["carrier", "承运"],
  tracking: ["tracking", "运单"],
  products: ["products", "商品"],
};

/** A model may ask for a tool of any name. */
export const toolName = (code: string, lang: Lang) => marked(one(code, lang, TOOLS));
export const titleText = (code: string, lang: Lang) => one(code, lang, TITLES, REPORTS);
export const columnName = (code: string, lang: Lang) => one(code, lang, COLUMNS, FIELDS, PARTS);

/** Where to look whether a call of this tool took effect; null where nothing is known of it. */
export const howToCheck = (tool: string, lang: Lang) => (Object.hasOwn(CHECKS, tool) ? one(tool, lang, CHECKS) : null);

/** The name of a field or a measure; what follows a space in its code (a number, a currency) stays behind it. */
export function fieldName(code: string, lang: Lang): string {
  const [base = code, ...rest] = code.split(" ");
  const behind = base === "sum_of" ? rest.map((name) => one(name, lang, FIELDS, COLUMNS)) : rest;
  return [one(base, lang, FIELDS, COLUMNS), ...behind].join(" ");
}

/** The value of a field in words, where it is a code. */
export function valueText(field: string, value: string | null, lang: Lang): string | null {
  return field === "import_kind" && value !== null ? one(value, lang, IMPORT_KINDS) : value;
}

export function noticeText(code: string, values: Record<string, string>, lang: Lang): string {
  const words = Object.hasOwn(NOTICES, code) ? one(code, lang, NOTICES) : null;
  if (words === null) return [code, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)].join(" ");
  return words.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

function one(code: string, lang: Lang, ...tables: Record<string, Pair>[]): string {
  const pair = tables.find((table) => Object.hasOwn(table, code))?.[code];
  return pair ? pair[lang === "zh" ? 1 : 0] : code;
}
