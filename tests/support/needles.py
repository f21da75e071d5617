"""Fifty facts that a person states once, in passing, and asks for much later in other words.

Each is (what is said, what is asked, what has to be in the prompt then). Prices promised, names and telephone numbers,
numbers of documents, rules and habits; in Chinese, in English, and mixed.
"""

from __future__ import annotations

Needle = tuple[str, str, str]

NEEDLES: tuple[Needle, ...] = (
    ("记一下：答应鑫源商行的不锈钢保温杯单价 38.50 元，月底前有效", "上次答应鑫源的价是多少？", "38.50"),
    ("福满楼那边我说好了，生抽按每箱 96 元给他们", "福满楼的生抽我答应按什么价给？", "96 元"),
    ("城南便利店的矿泉水报过 27.80 一箱，别忘了", "给城南便利店报的矿泉水是什么价？", "27.80"),
    ("跟宏达五金谈定了，螺丝刀 11.2 元一把，起订 500 把", "螺丝刀和宏达谈到多少钱一把？", "11.2"),
    ("红旗小学的复印纸优惠到 21.5 元一包", "红旗小学的纸优惠后是多少？", "21.5"),
    ("和美超市要的洗衣液，口头答应 4 箱起打八八折", "和美超市的洗衣液我答应打几折？", "八八折"),
    ("老周的那批电池按 1.35 元一节算", "老周的电池怎么算的钱？", "1.35"),
    ("东升酒店的毛巾，含税 12.90 元一条，不含运费", "东升酒店毛巾的含税价？", "12.90"),
    ("蓝天幼儿园的彩纸我报了 6.6 元一包", "蓝天幼儿园彩纸报价多少", "6.6"),
    ("答应阿里巴巴店铺的客户王先生，A4 纸满 50 箱每箱 108 元", "王先生买 A4 纸满 50 箱的价格？", "108"),
    ("李婷婷是宏达五金新来的采购，电话 0571-8820", "宏达五金新的采购叫什么名字？", "李婷婷"),
    ("福满楼的老板姓欧阳，喜欢别人叫他欧阳师傅", "福满楼的老板姓什么？", "欧阳"),
    ("送货的司机小赵星期三不上班", "小赵哪天不上班？", "星期三"),
    ("仓库钥匙在张阿姨那里，门卫室旁边", "仓库的钥匙在谁那里？", "张阿姨"),
    ("红旗小学的联系人换成了教务处的孙老师", "红旗小学现在找哪位老师？", "孙老师"),
    ("东升酒店的会计叫段誉明，发票寄给他", "发票该寄给东升酒店的谁？", "段誉明"),
    ("城南便利店的收货人是店长郝建国", "城南便利店谁收货？", "郝建国"),
    ("和美超市的对接人是杨柳，微信号 yangliu77", "和美超市对接人的微信号？", "yangliu77"),
    ("老周的儿子叫周小川，以后他来提货", "以后老周那边谁来提货？", "周小川"),
    ("蓝天幼儿园的园长是费雯", "蓝天幼儿园园长叫什么", "费雯"),
    ("退货单号是 RT-2026-0457，两箱 A4 纸受潮", "受潮的纸的退货单号是多少？", "RT-2026-0457"),
    ("福满楼这次的采购单在他们那边叫 FM-88231", "福满楼自己的采购单编号？", "FM-88231"),
    ("快递单号 SF1402233891，是寄给红旗小学的", "寄给红旗小学的快递单号？", "SF1402233891"),
    ("发票号码 04418872 开错了抬头，要重开", "哪张发票开错了抬头？", "04418872"),
    ("合同编号 HT2026-113，和东升酒店签的，年底到期", "和东升酒店的合同编号是？", "HT2026-113"),
    (
        "Remember: we promised Blue Harbor 1,250.00 USD for the packing machine",
        "What did I promise Blue Harbor?",
        "1,250.00",
    ),
    (
        "Told Greenfield Cafe they get the paper cups at 0.42 each from 5,000 up",
        "At what price does Greenfield get the cups?",
        "0.42",
    ),
    (
        "Agreed with Mr. Okafor on 18.75 per carton of noodles until June",
        "Which price per carton did Okafor and I agree on?",
        "18.75",
    ),
    (
        "Quoted the Lighthouse Hotel 64 euros for a set of bed linen",
        "How much was the bed linen for the Lighthouse Hotel?",
        "64 euros",
    ),
    (
        "Sunrise Bakery has our word on 7.10 a kilo for almond flour",
        "What is the almond flour price for Sunrise Bakery?",
        "7.10",
    ),
    ("The discount for Marlow & Sons is 12.5% on everything but tools", "Which discount does Marlow have?", "12.5%"),
    ("Promised Pinewood School the folders for 2.95 apiece", "What do folders cost for Pinewood School?", "2.95"),
    (
        "Delta Motors pays 310 per pallet of absorbent, freight included",
        "What does Delta Motors pay for a pallet of absorbent?",
        "310",
    ),
    (
        "Riverside Gym wants towels, we said 5.60 with their logo",
        "What did we say for towels with the logo of Riverside?",
        "5.60",
    ),
    (
        "For Nguyen Imports the tea is 23.40 a tin, only this quarter",
        "Tea for Nguyen Imports: price of a tin?",
        "23.40",
    ),
    ("The new buyer at Blue Harbor is Ingrid Solheim", "Who is the buyer at Blue Harbor now?", "Ingrid Solheim"),
    ("Greenfield's delivery contact is Tomasz, he is there from 6 am", "Who takes deliveries at Greenfield?", "Tomasz"),
    ("Our customs broker is called Amara Diallo", "What is the name of our customs broker?", "Amara Diallo"),
    ("The night guard of warehouse B is Pedro Quintana", "Who guards warehouse B at night?", "Pedro Quintana"),
    (
        "Lighthouse Hotel: invoices go to Ms. Haruka Endo",
        "To whom do invoices of the Lighthouse Hotel go?",
        "Haruka Endo",
    ),
    ("The accountant of Sunrise Bakery is Yusuf", "Who keeps the accounts of Sunrise Bakery?", "Yusuf"),
    (
        "Delta Motors' purchase reference is DM-77-4410",
        "What reference does Delta Motors use for the purchase?",
        "DM-77-4410",
    ),
    ("The damaged pallet was returned under RMA 90215-B", "Under which RMA did the damaged pallet go back?", "90215-B"),
    ("Container number MSKU 7719204 holds the chairs", "In which container are the chairs?", "7719204"),
    (
        "Bank reference for the Okafor payment: TRX55871903",
        "What was the bank reference of Okafor's payment?",
        "TRX55871903",
    ),
    ("Batch L2291 of almond flour must not be sold", "Which batch of almond flour must not be sold?", "L2291"),
    ("鑫源商行 the cooler boxes 最低 45.5 元，不能再低", "鑫源 cooler boxes 的最低价？", "45.5"),
    ("SKU KT-1042-B 用来代替 KT-1041，老款不再进货", "KT-1041 用哪个代替？", "KT-1042-B"),
    ("PO 4500017788 from Marlow covers 货架 and 标签", "Marlow 的 PO 号码是多少？", "4500017788"),
    ("给 Tomasz 的样品放在 3 号货架最上层", "Tomasz 的样品放在哪里？", "3 号货架"),
)
