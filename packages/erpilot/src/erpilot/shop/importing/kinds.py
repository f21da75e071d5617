"""The kinds of files: which fields a record of each has, and the headings that people give them.

Invariant: plain data. A heading may stand for different fields in different kinds; within one kind for one field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .headings import plain

Kind = Literal["products", "customers", "suppliers", "stock", "prices", "orders", "order_heads", "order_lines"]


@dataclass(frozen=True, slots=True)
class KindOfFile:
    """``required``: fields of which each needs a column; ``telling``: fields that hardly any other kind has."""

    name: Kind
    headings: dict[str, str]
    """Plain heading to field."""
    required: tuple[tuple[str, ...], ...]
    """Of each group one is enough."""
    telling: frozenset[str]
    examples: tuple[str, str]


def _table(**fields: str) -> dict[str, str]:
    return {plain(word)[0]: name for name, words in fields.items() for word in words.split()}


_SKU = (
    "编码 编号 货号 商品编码 商品编号 产品编码 产品编号 物料编码 款号 SKU 代码 商品代码 存货编码 code sku item_code"
    " product_id productid product_code item_no itemno article 型号编码"
)
_NAME = (
    "名称 品名 商品名称 产品名称 商品 货品名称 物料名称 存货名称 name product item description productname item_name"
)
_BARCODE = "条码 条形码 国际条码 商品条码 69码 barcode ean gtin upc"
_UNIT = "单位 计量单位 基本单位 销售单位 unit uom"
_WAREHOUSE = "仓库 仓库名称 库房 门店 warehouse location 仓"
_PARTY = "电话 联系电话 手机 手机号 phone tel telephone mobile"

PRODUCTS = KindOfFile(
    "products",
    _table(
        sku=_SKU,
        name=_NAME,
        barcode=_BARCODE,
        unit=_UNIT,
        specification="规格 规格型号 型号 spec specification size quantity_per_unit model",
        category="类别 分类 品类 商品分类 类目 大类 category category_name categoryid category_id group",
        pack_unit="大单位 箱单位 包装单位 辅单位 pack_unit",
        pack_factor="装箱数 箱规 每箱数量 每箱 装箱量 件装数 换算率 入数 pack_size pack_factor units_per_pack",
        tax_rate="税率 增值税率 tax taxrate tax_rate vat",
        list_price="零售价 售价 销售价 单价 标价 价格 含税单价 市场价 price list_price unit_price unitprice"
        " retail_price",
        cost="成本 成本价 进价 进货价 采购价 cost cost_price purchase_price",
        min_order="起订量 最小起订量 起批量 moq min_order minimum",
        active="在售 是否上架 状态 上架 启用 active status on_sale",
        discontinued="停售 停产 discontinued",
    ),
    (("sku",), ("name",)),
    frozenset({"category", "specification", "tax_rate", "list_price", "pack_factor", "barcode", "cost"}),
    ("编码", "名称"),
)
_PARTY_FIELDS = _table(
    name="名称 客户名称 客户 公司名称 公司 单位名称 供应商 供应商名称 全称 厂商 name company company_name companyname"
    " customer customer_name supplier supplier_name",
    id="编号 编码 客户编号 客户编码 供应商编号 供应商编码 代码 id code customer_id customerid supplier_id supplierid",
    short_name="简称 别名 short_name alias",
    contact="联系人 联系人姓名 负责人 contact contact_name contactname",
    phone=_PARTY,
    city="城市 市 所在城市 地区 city town",
    price_list="价目表 价格等级 客户等级 等级 价格类型 price_list pricelist customer_level",
    terms="账期 账期(天) 结算天数 付款天数 terms payment_terms days",
    credit_limit="信用额度 额度 授信额度 信用 credit_limit credit limit",
)
CUSTOMERS = KindOfFile(
    "customers",
    _PARTY_FIELDS,
    (("name",),),
    frozenset({"contact", "phone", "city", "terms", "credit_limit", "short_name", "price_list"}),
    ("客户名称", "联系人"),
)
SUPPLIERS = KindOfFile(
    "suppliers", _PARTY_FIELDS, (("name",),), frozenset({"contact", "phone", "city"}), ("供应商", "")
)
STOCK = KindOfFile(
    "stock",
    _table(
        sku=_SKU,
        barcode=_BARCODE,
        name=_NAME,
        unit=_UNIT,
        warehouse=_WAREHOUSE,
        on_hand="库存 库存数量 数量 实盘 实盘数 实盘数量 盘点数 盘点数量 实存 实际库存 现有库存 结存 在库 qty quantity"
        " stock on_hand onhand counted count units_in_stock inventory",
    ),
    (("sku", "barcode"), ("on_hand",)),
    frozenset({"on_hand", "warehouse"}),
    ("编码", "实盘数"),
)
PRICES = KindOfFile(
    "prices",
    _table(
        sku=_SKU,
        barcode=_BARCODE,
        name=_NAME,
        unit=_UNIT,
        price="价格 单价 新价 新价格 调后价 批发价 零售价 售价 报价 含税价 price new_price unit_price unitprice",
        price_list="价目表 价格类型 客户等级 等级 price_list pricelist list",
        from_qty="起始数量 起订量 数量起 满 起批量 from_qty min_qty from quantity qty",
        start="生效日期 生效日 开始日期 起用日期 执行日期 valid_from start from_date effective",
    ),
    (("sku", "barcode"), ("price",)),
    frozenset({"price_list", "from_qty", "start"}),
    ("编码", "新价格"),
)
ORDERS = KindOfFile(
    "orders",
    _table(
        number="订单号 单号 订单编号 单据编号 销售单号 单据号 order order_id orderid order_no order_number number"
        " invoice_no",
        date="日期 下单日期 订单日期 单据日期 销售日期 开单日期 date order_date orderdate created_at",
        customer="客户 客户名称 客户编号 客户编码 购货单位 往来单位 customer customer_id customerid customer_name",
        sku=_SKU + " sku_code",
        barcode=_BARCODE,
        name=_NAME,
        unit=_UNIT,
        warehouse=_WAREHOUSE,
        quantity="数量 销售数量 件数 quantity qty",
        unit_price="单价 含税单价 成交价 price unit_price unitprice",
        discount="折扣 折扣率 discount",
    ),
    (("number",), ("date",), ("customer",), ("sku", "barcode"), ("quantity",), ("unit_price",)),
    frozenset({"number", "date", "customer", "quantity"}),
    ("订单号", "日期"),
)
WHOLE = (PRODUCTS, CUSTOMERS, SUPPLIERS, STOCK, PRICES, ORDERS)
"""Those that one table holds all of; they are told apart by their headings."""
ORDER_HEADS = replace(ORDERS, name="order_heads", required=(("number",), ("date",), ("customer",)))
ORDER_LINES = replace(
    ORDERS, name="order_lines", required=(("number",), ("sku", "barcode"), ("quantity",), ("unit_price",))
)
"""Past orders in two files: one with a row for each order, one with a row for each line."""
KINDS: dict[str, KindOfFile] = {each.name: each for each in (*WHOLE, ORDER_HEADS, ORDER_LINES)}
