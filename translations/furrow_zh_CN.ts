<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Alerts</name>
    <message>
        <source>Run finished</source>
        <translation>运行已完成</translation>
    </message>
    <message>
        <source>Run interrupted</source>
        <translation>运行被中断</translation>
    </message>
    <message>
        <source>Run failed</source>
        <translation>运行失败</translation>
    </message>
    <message>
        <source>Loss is not a number</source>
        <translation>损失不是数字</translation>
    </message>
    <message>
        <source>Loss spike</source>
        <translation>损失尖峰</translation>
    </message>
    <message>
        <source>Worker makes no progress</source>
        <translation>工作进程没有进展</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>Data repeats itself</source>
        <translation>数据重复</translation>
    </message>
    <message>
        <source>Loss too good to be true</source>
        <translation>损失低得不合理</translation>
    </message>
    <message>
        <source>Chunk trained twice or missing</source>
        <translation>数据段被训练两次或缺失</translation>
    </message>
    <message>
        <source>Disk nearly full</source>
        <translation>磁盘快满了</translation>
    </message>
    <message>
        <source>%1 has finished: %2.</source>
        <translation>%1 已完成：%2。</translation>
    </message>
    <message>
        <source>%1 was interrupted. Resume shows what would be trained again.</source>
        <translation>%1 被中断。“恢复”会显示哪些内容将重新训练。</translation>
    </message>
    <message>
        <source>%1 has failed: %2</source>
        <translation>%1 失败：%2</translation>
    </message>
    <message>
        <source>%1 of the rows repeat a row before them and are left out.</source>
        <translation>%1 的行与之前的行重复，已略去。</translation>
    </message>
    <message>
        <source>%1 ended: %2. A smaller batch needs less memory.</source>
        <translation>%1 已结束：%2。减小批大小可降低内存占用。</translation>
    </message>
    <message>
        <source>The loss of %1 is %2: the model knows this data by heart, or the data is trivial.</source>
        <translation>%1 的损失为 %2：模型已背下这些数据，或数据过于简单。</translation>
    </message>
    <message>
        <source>Loss spike on %1: %2</source>
        <translation>%1 出现损失尖峰：%2</translation>
    </message>
    <message>
        <source>Not a number on %1: %2</source>
        <translation>%1 出现非数字：%2</translation>
    </message>
    <message>
        <source>%1 went back to its last checkpoint: %2</source>
        <translation>%1 已回到其最近的检查点：%2</translation>
    </message>
    <message>
        <source>Worker died</source>
        <translation>工作进程意外结束</translation>
    </message>
    <message>
        <source>Checkpoints cannot be found</source>
        <translation>找不到检查点</translation>
    </message>
    <message>
        <source>Run waits for its data</source>
        <translation>运行等待数据</translation>
    </message>
    <message>
        <source>Files of the data left out</source>
        <translation>数据文件被略去</translation>
    </message>
    <message>
        <source>The run waits for its data: %1</source>
        <translation>运行等待数据：%1</translation>
    </message>
    <message>
        <source>Checkpoints cannot be removed</source>
        <translation>检查点无法删除</translation>
    </message>
</context>
<context>
    <name>AskDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>AuditReport</name>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Chunks expected</source>
        <translation>预期的数据段</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>Trained twice</source>
        <translation>训练两次</translation>
    </message>
    <message>
        <source>Missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>Still to come</source>
        <translation>尚待训练</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation>有毒</translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation>已提交的样本</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>尚不知道</translation>
    </message>
    <message>
        <source>%1, attempt %2: %3 to %4, %5</source>
        <translation>%1，第 %2 次尝试：%3 至 %4，%5</translation>
    </message>
    <message>
        <source>Audit of %1</source>
        <translation>%1 的审计</translation>
    </message>
    <message>
        <source>What was checked</source>
        <translation>检查了什么</translation>
    </message>
    <message>
        <source>Not inspected, because nothing else records it</source>
        <translation>未检查，因为没有别的依据</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>; wrong: %1</source>
        <translation>；不符：%1</translation>
    </message>
    <message>
        <source>; could not be inspected: %1</source>
        <translation>；无法检查：%1</translation>
    </message>
    <message>
        <source>%1: %2 %</source>
        <translation>%1：%2 %</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Private training</source>
        <translation>隐私训练</translation>
    </message>
    <message>
        <source>Outside of the guarantee</source>
        <translation>保证之外</translation>
    </message>
    <message>
        <source>Left out, trained by the parent run</source>
        <translation>略去，父运行已训练</translation>
    </message>
</context>
<context>
    <name>Chart</name>
    <message>
        <source>worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
</context>
<context>
    <name>ChartData</name>
    <message>
        <source>Attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 分</translation>
    </message>
    <message>
        <source>%1 h</source>
        <translation>%1 小时</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 小时 %2 分</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>last step %1, resumed %2</source>
        <translation>最后一步 %1，恢复 %2</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) of attempt %1 are not in the weights</source>
        <translation>
            <numerusform>第 %1 次尝试的 %n 步不在权重中</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChartStatistics</name>
    <message>
        <source>Visible range</source>
        <translation>可见范围</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>点数</translation>
    </message>
    <message>
        <source>Smallest</source>
        <translation>最小</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>Statistics of the visible range</source>
        <translation>可见范围的统计</translation>
    </message>
</context>
<context>
    <name>Charts</name>
    <message>
        <source>nats per pair</source>
        <translation>奈特/对</translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation>奈特/词元</translation>
    </message>
</context>
<context>
    <name>ChartsPage</name>
    <message>
        <source>Attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>after attempt %1: %2</source>
        <translation>第 %1 次尝试之后：%2</translation>
    </message>
</context>
<context>
    <name>Choices</name>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Paragraphs</source>
        <translation>段落</translation>
    </message>
    <message>
        <source>Spans</source>
        <translation>等长片段</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>流式</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>GPT</source>
        <translation>GPT</translation>
    </message>
    <message>
        <source>HRM</source>
        <translation>HRM</translation>
    </message>
    <message>
        <source>Learned</source>
        <translation>学习得到</translation>
    </message>
    <message>
        <source>Rotary</source>
        <translation>旋转</translation>
    </message>
    <message>
        <source>LayerNorm</source>
        <translation>LayerNorm</translation>
    </message>
    <message>
        <source>RMSNorm</source>
        <translation>RMSNorm</translation>
    </message>
    <message>
        <source>GELU</source>
        <translation>GELU</translation>
    </message>
    <message>
        <source>SwiGLU</source>
        <translation>SwiGLU</translation>
    </message>
    <message>
        <source>Train again</source>
        <translation>重新训练</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>略去</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>余弦</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>线性</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>恒定</translation>
    </message>
    <message>
        <source>Stable, decay</source>
        <translation>先稳后降</translation>
    </message>
    <message>
        <source>Flash</source>
        <translation>Flash</translation>
    </message>
    <message>
        <source>Efficient</source>
        <translation>省内存</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>Own replicas</source>
        <translation>各自副本</translation>
    </message>
    <message>
        <source>One model</source>
        <translation>同一模型</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>AdamW, 8-bit</source>
        <translation>AdamW，8 位</translation>
    </message>
    <message>
        <source>AdamATan2</source>
        <translation>AdamATan2</translation>
    </message>
    <message>
        <source>SGD</source>
        <translation>SGD</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Average</source>
        <translation>平均</translation>
    </message>
    <message>
        <source>DiLoCo</source>
        <translation>DiLoCo</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>GELU, exact</source>
        <translation>GELU（精确）</translation>
    </message>
    <message>
        <source>GeGLU</source>
        <translation>GeGLU</translation>
    </message>
    <message>
        <source>GeGLU, exact</source>
        <translation>GeGLU（精确）</translation>
    </message>
    <message>
        <source>SiLU</source>
        <translation>SiLU</translation>
    </message>
    <message>
        <source>Every answer</source>
        <translation>每个回答</translation>
    </message>
    <message>
        <source>The last answer</source>
        <translation>最后一个回答</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>拆分</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>截断</translation>
    </message>
    <message>
        <source>On</source>
        <translation>开</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>End to end</source>
        <translation>首尾相接</translation>
    </message>
    <message>
        <source>Best fit</source>
        <translation>最佳适配</translation>
    </message>
    <message>
        <source>One each</source>
        <translation>各占一个</translation>
    </message>
    <message>
        <source>A window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>A sample</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>The next token</source>
        <translation>下一个词元</translation>
    </message>
    <message>
        <source>Preferences (DPO)</source>
        <translation>偏好（DPO）</translation>
    </message>
    <message>
        <source>Not at all</source>
        <translation>不归一</translation>
    </message>
    <message>
        <source>By its tokens</source>
        <translation>按词元数</translation>
    </message>
</context>
<context>
    <name>ChunkCell</name>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>leased</source>
        <translation>已领取</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>有毒</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>to be redone</source>
        <translation>需重做</translation>
    </message>
    <message>
        <source>orphaned claim</source>
        <translation>孤立的领取</translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation>部分已训练</translation>
    </message>
</context>
<context>
    <name>Core</name>
    <message>
        <source>SIGKILL (likely the out-of-memory killer)</source>
        <translation>SIGKILL（可能因内存不足被系统终止）</translation>
    </message>
    <message>
        <source>signal %1</source>
        <translation>信号 %1</translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation>退出代码 %1</translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far repeats text before it. The loss will look better than it is. Set duplicates to skip, or look for files that are in the data twice.</source>
        <translation>目前已准备文本的 %1 % 与之前的文本重复，损失会显得比实际更好。请将重复文本设为跳过，或查找在数据中出现两次的文件。</translation>
    </message>
    <message>
        <source>The loss is %1 bits per byte in the first pass over the data, below anything that can be learnt from new text (zstd needs %2). Labels may not be shifted, or the data contains copies of itself.</source>
        <translation>首次遍历数据时损失为每字节 %1 比特，低于从新文本中可能学到的水平（zstd 需要 %2）。标签可能没有移位，或数据包含自身的副本。</translation>
    </message>
    <message>
        <source>its prepared file is gone from the cache</source>
        <translation>其已准备好的文件已不在缓存中</translation>
    </message>
    <message>
        <source>its supervisor was gone</source>
        <translation>其监督进程已不存在</translation>
    </message>
    <message>
        <source>The folder is looked at from outside (%1), so the run is trained by another computer, whose processes cannot be seen from here.</source>
        <translation>此文件夹是从外部查看的（%1），运行由另一台计算机训练，其进程在此不可见。</translation>
    </message>
    <message>
        <source>The run wrote something %1 ago.</source>
        <translation>运行在 %1 前写入过内容。</translation>
    </message>
    <message>
        <source>no sign of life for %1 from the computer that trains it</source>
        <translation>训练它的计算机已 %1 没有动静</translation>
    </message>
    <message>
        <source>No attempt was started yet.</source>
        <translation>尚未开始任何尝试。</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run; its last heartbeat is %2 ago.</source>
        <translation>监督进程（%1）持有此运行；上次心跳在 %2 前。</translation>
    </message>
    <message>
        <source>%1 of %2 workers alive.</source>
        <translation>%2 个工作进程中有 %1 个存活。</translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2: %3.</source>
        <translation>第 %1 次尝试于 %2 结束：%3。</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1（%2）</translation>
    </message>
    <message>
        <source>A process holds the run and has not written a heartbeat yet.</source>
        <translation>有进程持有此运行，但尚未写入心跳。</translation>
    </message>
    <message>
        <source>The supervisor process is gone.</source>
        <translation>监督进程已不存在。</translation>
    </message>
    <message>
        <source>The boot id changed: the computer was restarted.</source>
        <translation>启动标识已改变：计算机重新启动过。</translation>
    </message>
    <message>
        <source>Attempt %1 has no exit record.</source>
        <translation>第 %1 次尝试没有退出记录。</translation>
    </message>
    <message>
        <source>The last heartbeat was at %1.</source>
        <translation>上次心跳时间为 %1。</translation>
    </message>
    <message>
        <source>The supervisor logged at its end: %1</source>
        <translation>监督进程结束时记录：%1</translation>
    </message>
    <message>
        <source>the supervisor process is gone, there is no exit record</source>
        <translation>监督进程已不存在，也没有退出记录</translation>
    </message>
    <message>
        <source>the computer restarted while the run was training</source>
        <translation>运行训练期间计算机重新启动过</translation>
    </message>
    <message>
        <source>A person marked the run as finished at %1; until then it was %2.</source>
        <translation>有人于 %1 将此运行标记为已完成；此前状态为%2。</translation>
    </message>
    <message>
        <source>The feeder</source>
        <translation>供数进程</translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>the run was killed</source>
        <translation>运行被强制结束</translation>
    </message>
    <message>
        <source>%1 ended with %2: %3 See %4 for more.</source>
        <translation>%1 已结束（%2）：%3 详情见 %4。</translation>
    </message>
    <message>
        <source>%1 The limit of %2 restarts is reached.</source>
        <translation>%1 已达到 %2 次重启的上限。</translation>
    </message>
    <message>
        <source>no progress within its lease</source>
        <translation>租期内没有进展</translation>
    </message>
    <message>
        <source>killed; what was trained since the last checkpoints is trained again</source>
        <translation>被强制结束；上次检查点之后训练的内容将重新训练</translation>
    </message>
    <message>
        <source>after a checkpoint</source>
        <translation>在检查点之后</translation>
    </message>
    <message>
        <source>The workers ended before the run did.</source>
        <translation>工作进程先于运行结束。</translation>
    </message>
    <message>
        <source>replica %1 stands on a damaged checkpoint %2</source>
        <translation>副本 %1 基于损坏的检查点 %2</translation>
    </message>
    <message>
        <source>nobody holds %1, which is %2</source>
        <translation>没有进程持有 %1，其状态为 %2</translation>
    </message>
    <message>
        <source>somebody holds %1, which is %2</source>
        <translation>有进程持有 %1，其状态为 %2</translation>
    </message>
    <message>
        <source>%1 is counted in checkpoint %2, which no surviving weights were made from</source>
        <translation>%1 计入检查点 %2，但留存的权重并非由它得来</translation>
    </message>
    <message>
        <source>%1: windows %2 to %3 are in the surviving weights twice (the second time through checkpoint %4); likely cause: the ledger was changed from outside, or restored from an older copy while a worker went on</source>
        <translation>%1：窗口 %2 到 %3 在留存的权重中出现两次（第二次来自检查点 %4）；可能原因：账本被外部修改，或在工作进程继续时从旧副本恢复</translation>
    </message>
    <message>
        <source>%1 counts as committed, but only %2 of %3 windows are in surviving checkpoints; likely cause: a checkpoint row was removed or changed from outside</source>
        <translation>%1 记为已提交，但留存的检查点中只有 %3 个窗口中的 %2 个；可能原因：检查点记录被外部删除或修改</translation>
    </message>
    <message>
        <source>%1: the ledger counts %2 covered windows, its parts cover %3</source>
        <translation>%1：账本记有 %2 个已覆盖窗口，而其部分只覆盖 %3 个</translation>
    </message>
    <message>
        <source>%1: its samples do not add up to its %2 rows</source>
        <translation>%1：其样本数之和不等于它的 %2 行</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4</source>
        <translation>块 %2 的数据段 %1（第 %3 轮）状态为 %4</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3) is %4: %5</source>
        <translation>块 %2 的数据段 %1（第 %3 轮）状态为 %4：%5</translation>
    </message>
    <message>
        <source>%1: claim %2 began before claim %3 had ended; likely cause: the ledger was changed from outside, or two copies of it were in use</source>
        <translation>%1：领取 %2 在领取 %3 结束之前开始；可能原因：账本被外部修改，或同时使用了两个副本</translation>
    </message>
    <message>
        <source>%1: claim %2 is open but does not hold the chunk</source>
        <translation>%1：领取 %2 未结束但并不持有该数据段</translation>
    </message>
    <message>
        <source>epoch %1 leaves out %2 chunks that the parent run trained (parent.json names it)</source>
        <translation>第 %1 轮略去父运行已训练的 %2 个数据段（见 parent.json）</translation>
    </message>
    <message>
        <source>%1 chunks of epoch %2 are in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation>第 %2 轮有 %1 个数据段也在父运行的权重中：此运行是新的一遍（parent_chunks=again）</translation>
    </message>
    <message>
        <source>the tracker was damaged and %1</source>
        <translation>账本曾损坏，%1</translation>
    </message>
    <message>
        <source>the counters of block %1 (epoch %2) differ from its chunks</source>
        <translation>块 %1（第 %2 轮）的计数与其数据段不符</translation>
    </message>
    <message>
        <source>epoch %1 has %2 chunks, its blocks promise %3</source>
        <translation>第 %1 轮有 %2 个数据段，而其块应有 %3 个</translation>
    </message>
    <message>
        <source>epoch %1 is closed although %2 chunks are left</source>
        <translation>第 %1 轮已关闭，但还剩 %2 个数据段</translation>
    </message>
    <message>
        <source>no stopping rule is reached any more</source>
        <translation>不再满足任何停止规则</translation>
    </message>
    <message>
        <source>stopping rule reached: %1</source>
        <translation>已满足停止规则：%1</translation>
    </message>
    <message>
        <source>an epoch is complete</source>
        <translation>一轮已完成</translation>
    </message>
    <message>
        <source>%1 epochs are complete</source>
        <translation>%1 轮已完成</translation>
    </message>
    <message>
        <source>epoch %1 opened</source>
        <translation>第 %1 轮已打开</translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation>在隔离清单中</translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>父运行已训练</translation>
    </message>
    <message>
        <source>nothing to train</source>
        <translation>没有可训练的内容</translation>
    </message>
    <message>
        <source>prepared</source>
        <translation>已准备</translation>
    </message>
    <message>
        <source>epoch %1 opened again</source>
        <translation>第 %1 轮重新打开</translation>
    </message>
    <message>
        <source>rebuilt</source>
        <translation>已重建</translation>
    </message>
    <message>
        <source>rebuilt: %1 checkpoints with %2 parts were added from their files</source>
        <translation>已重建：从文件中加入了 %1 个检查点，共 %2 个部分</translation>
    </message>
    <message>
        <source>accepted as not trained</source>
        <translation>已接受不训练</translation>
    </message>
    <message>
        <source>another try</source>
        <translation>再试一次</translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: %2</source>
        <translation>检查点 %1 已损坏：%2</translation>
    </message>
    <message>
        <source>the run went back to %1</source>
        <translation>运行回退到 %1</translation>
    </message>
    <message>
        <source>merge round %1 opened</source>
        <translation>合并轮 %1 已打开</translation>
    </message>
    <message>
        <source>chunk %1 of block %2 (epoch %3)</source>
        <translation>块 %2 的数据段 %1（第 %3 轮）</translation>
    </message>
    <message>
        <source>checkpoint %1</source>
        <translation>检查点 %1</translation>
    </message>
    <message>
        <source>the rest after %1</source>
        <translation>%1 之后的剩余部分</translation>
    </message>
    <message>
        <source>claim</source>
        <translation>领取</translation>
    </message>
    <message>
        <source>given back</source>
        <translation>已归还</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>rank 0 ended</source>
        <translation>rank 0 已结束</translation>
    </message>
    <message>
        <source>%1, %2, written in %3</source>
        <translation>%1，%2，写入用时 %3</translation>
    </message>
    <message>
        <source>the loss or gradient norm of windows %1-%2 is not finite; the step is left out</source>
        <translation>窗口 %1-%2 的损失或梯度范数不是有限值；略去这一步</translation>
    </message>
    <message>
        <source>loss %1 in windows %2-%3 is an outlier: robust z-score %4</source>
        <translation>窗口 %2-%3 的损失 %1 偏离正常：稳健 z 值 %4</translation>
    </message>
    <message>
        <source>%1 It is left out of the merge; its chunks are trained again.</source>
        <translation>%1 它不参与合并；其数据段将重新训练。</translation>
    </message>
    <message>
        <source>%1 The replicas are averaged without it.</source>
        <translation>%1 对副本取平均时不包含它。</translation>
    </message>
    <message>
        <source>merged %1 replicas into %2</source>
        <translation>%1 个副本已合并为 %2</translation>
    </message>
    <message>
        <source>%1, loss on held-out text %2</source>
        <translation>%1，留出文本的损失为 %2</translation>
    </message>
    <message>
        <source>%1; distances from the base %2</source>
        <translation>%1；与起点的距离 %2</translation>
    </message>
    <message>
        <source>no progress for %1 in phase &apos;%2&apos;; if that continues, the lease of this worker ends and its work goes to others</source>
        <translation>已 %1 没有进展（阶段“%2”）；若持续如此，该工作进程的租期将结束，工作交给其他进程</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>the epochs are complete</source>
        <translation>各轮已完成</translation>
    </message>
    <message>
        <source>a stopping rule is reached</source>
        <translation>已满足停止规则</translation>
    </message>
    <message>
        <source>adaptive rate: mean loss of %1 steps went from %2 to %3, so the rate is %4 % of the schedule (before: %5 %)</source>
        <translation>自适应学习率：%1 步的平均损失从 %2 变为 %3，因此学习率为计划的 %4 %（之前：%5 %）</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is at most %3, which is %4.</source>
        <translation>%1 为 %2，最多为 %3（%4）。</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is byte, char, gpt2 or the path of a tokenizer.json.</source>
        <translation>%1 为空，可以是 byte、char、gpt2 或 tokenizer.json 的路径。</translation>
    </message>
    <message>
        <source>%1 is %2, below %3 %4: every sample would be filtered.</source>
        <translation>%1 为 %2，低于 %3 %4：所有样本都会被过滤。</translation>
    </message>
    <message>
        <source>%1 has %2 numbers for %3 sources, allowed is one for each or none.</source>
        <translation>%1 有 %2 个数字，而来源有 %3 个；应每个来源一个，或全部省略。</translation>
    </message>
    <message>
        <source>%1 has &apos;%2&apos;, allowed are numbers above 0.</source>
        <translation>%1 含有“%2”，只允许大于 0 的数字。</translation>
    </message>
    <message>
        <source>%1 names several sources, %2 stream takes one file.</source>
        <translation>%1 指定了多个来源，而 %2 stream 只接受一个文件。</translation>
    </message>
    <message>
        <source>%1 is %2, which does not divide %3 %4.</source>
        <translation>%1 为 %2，不能整除 %3 %4。</translation>
    </message>
    <message>
        <source>%1 is %2: rotary positions need an even head size, width / heads is %3.</source>
        <translation>%1 为 %2：旋转位置需要偶数的头大小，而宽度 / 头数为 %3。</translation>
    </message>
    <message>
        <source>%1 is 1, allowed is 0 (no experts) or 2 to 256.</source>
        <translation>%1 为 1，可以是 0（无专家）或 2 到 256。</translation>
    </message>
    <message>
        <source>%1 is %2, which works with architecture gpt without experts only.</source>
        <translation>%1 为 %2，仅适用于没有专家的 gpt 架构。</translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU, but with %2 %3 the workers train on the CPU here; allowed there is auto, fp32 or bf16.</source>
        <translation>%1 为 fp16，需要 GPU，但在 %2 %3 下工作进程在此使用 CPU 训练；那里允许 auto、fp32 或 bf16。</translation>
    </message>
    <message>
        <source>%1 is %2, but each worker does about %3 steps until the run ends: its learning rate would never reach %4. Lower %5, or train longer.</source>
        <translation>%1 为 %2，但每个工作进程到运行结束只做约 %3 步：学习率永远达不到 %4。请调低 %5，或训练更久。</translation>
    </message>
    <message>
        <source>%1 is %2, but there are no weights to keep as they are: the pairs would be trained beside random ones. Name the weights with %3.</source>
        <translation>%1 为 %2，但没有可保持不变的权重：矩阵对会与随机权重一起训练。请用 %3 指定权重。</translation>
    </message>
    <message>
        <source>%1 is %2, but hrm has none.</source>
        <translation>%1 为 %2，但 hrm 没有此项。</translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only; hrm keeps the activations of one step anyway.</source>
        <translation>%1 已打开，仅适用于 gpt 架构；hrm 本来就只保留一步的激活值。</translation>
    </message>
    <message>
        <source>%1 is fp16, which needs a GPU; allowed with %2 %3 is auto, fp32 or bf16.</source>
        <translation>%1 为 fp16，需要 GPU；%2 为 %3 时可以是 auto、fp32 或 bf16。</translation>
    </message>
    <message>
        <source>%1 is 0: nothing would be learnt.</source>
        <translation>%1 为 0：什么也学不到。</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is auto, cpu:N or a list of GPUs.</source>
        <translation>%1 为空，可以是 auto、cpu:N 或 GPU 列表。</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is cpu or cpu:1 to cpu:256.</source>
        <translation>%1 为 %2，可以是 cpu 或 cpu:1 到 cpu:256。</translation>
    </message>
    <message>
        <source>%1 is 1, but %2 is data, which splits each step over at least 2.</source>
        <translation>%1 为 1，但 %2 为 data，需要把每一步分给至少 2 个。</translation>
    </message>
    <message>
        <source>%1 is cpu:1, but %2 is data, which splits each step over at least 2 workers.</source>
        <translation>%1 为 cpu:1，但 %2 为 data，需要把每一步分给至少 2 个工作进程。</translation>
    </message>
    <message>
        <source>%1 is diloco, but with %2 data there is one model and nothing to merge; allowed is average or none.</source>
        <translation>%1 为 diloco，但 %2 为 data 时只有一个模型，没有可合并的；可以是 average 或 none。</translation>
    </message>
    <message>
        <source>%1 is %2, but with %3 data there is one model and nothing to merge.</source>
        <translation>%1 为 %2，但 %3 为 data 时只有一个模型，没有可合并的。</translation>
    </message>
    <message>
        <source>%1 cannot change from %2 to %3 in a run that has begun: it defines its chunks or its weights. Start a new run instead.</source>
        <translation>运行开始后，%1 不能从 %2 改为 %3：它决定了数据段或权重。请改为新建运行。</translation>
    </message>
    <message>
        <source>The weights of the run did not grow from it.</source>
        <translation>此运行的权重并非由它得来。</translation>
    </message>
    <message>
        <source>1 chunk not prepared yet</source>
        <translation>1 个数据段尚未准备</translation>
    </message>
    <message>
        <source>%1 chunks not prepared yet</source>
        <translation>%1 个数据段尚未准备</translation>
    </message>
    <message>
        <source>1 chunk free</source>
        <translation>1 个数据段空闲</translation>
    </message>
    <message>
        <source>%1 chunks free</source>
        <translation>%1 个数据段空闲</translation>
    </message>
    <message>
        <source>1 chunk leased</source>
        <translation>1 个数据段已领取</translation>
    </message>
    <message>
        <source>%1 chunks leased</source>
        <translation>%1 个数据段已领取</translation>
    </message>
    <message>
        <source>1 chunk trained, not in a checkpoint yet</source>
        <translation>1 个数据段已训练，尚未写入检查点</translation>
    </message>
    <message>
        <source>%1 chunks trained, not in a checkpoint yet</source>
        <translation>%1 个数据段已训练，尚未写入检查点</translation>
    </message>
    <message>
        <source>1 chunk poisoned: accept or retry</source>
        <translation>1 个数据段有毒：请接受或重试</translation>
    </message>
    <message>
        <source>%1 chunks poisoned: accept or retry</source>
        <translation>%1 个数据段有毒：请接受或重试</translation>
    </message>
    <message>
        <source>last block not proven</source>
        <translation>最后一个块尚未证实</translation>
    </message>
    <message>
        <source>last block not proven because %1</source>
        <translation>最后一个块尚未证实，因为%1</translation>
    </message>
    <message>
        <source>any number of epochs</source>
        <translation>任意轮数</translation>
    </message>
    <message>
        <source>1 epoch</source>
        <translation>1 轮</translation>
    </message>
    <message>
        <source>%1 epochs</source>
        <translation>%1 轮</translation>
    </message>
    <message>
        <source>%1 blocks, %2</source>
        <translation>%1 块，%2</translation>
    </message>
    <message>
        <source>%1 tokens, %2</source>
        <translation>%1 个词元，%2</translation>
    </message>
    <message>
        <source>%1 steps, %2</source>
        <translation>%1 步，%2</translation>
    </message>
    <message>
        <source>%1 hours, %2</source>
        <translation>%1 小时，%2</translation>
    </message>
    <message>
        <source>merged</source>
        <translation>已合并</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) is not marked as its chunks say</source>
        <translation>块 %1（第 %2 轮）的标记与其数据段不符</translation>
    </message>
    <message>
        <source>%1 is held by worker process %2, which would overlook it</source>
        <translation>%1 由工作进程 %2 持有，而该进程会忽略它</translation>
    </message>
    <message>
        <source>checkpoint %1 has parts of claims that it does not name</source>
        <translation>检查点 %1 含有其未列出的领取记录的部分</translation>
    </message>
    <message>
        <source>cannot open the lock file %1</source>
        <translation>无法打开锁文件 %1</translation>
    </message>
    <message>
        <source>%1 is locked by another process</source>
        <translation>%1 被另一个进程锁定</translation>
    </message>
    <message>
        <source>cannot lock %1</source>
        <translation>无法锁定 %1</translation>
    </message>
    <message>
        <source>%1 has %2; at most %3 are accepted here</source>
        <translation>%1 有 %2；此处最多接受 %3</translation>
    </message>
    <message>
        <source>cannot ask for the free space at %1</source>
        <translation>无法查询 %1 处的可用空间</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is a folder that %2 synchronises, which copies a live database piece by piece and damages it</source>
        <translation>“%1”是由 %2 同步的文件夹，会逐块复制正在使用的数据库并损坏它</translation>
    </message>
    <message>
        <source>it or its folder does not exist</source>
        <translation>它或其所在文件夹不存在</translation>
    </message>
    <message>
        <source>the disk is full; free some space and try again</source>
        <translation>磁盘已满；请释放一些空间后重试</translation>
    </message>
    <message>
        <source>your disk quota is used up; free some space and try again</source>
        <translation>磁盘配额已用完；请释放一些空间后重试</translation>
    </message>
    <message>
        <source>permission denied; change the rights or choose another place</source>
        <translation>权限不足；请更改权限或选择其他位置</translation>
    </message>
    <message>
        <source>the file system is read-only; choose another place</source>
        <translation>文件系统只读；请选择其他位置</translation>
    </message>
    <message>
        <source>too many open files; raise the limit (ulimit -n)</source>
        <translation>打开的文件过多；请提高上限（ulimit -n）</translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation>它是一个文件夹</translation>
    </message>
    <message>
        <source>the name is taken</source>
        <translation>名称已被占用</translation>
    </message>
    <message>
        <source>cannot write %1</source>
        <translation>无法写入 %1</translation>
    </message>
    <message>
        <source>cannot sync %1</source>
        <translation>无法将 %1 同步到磁盘</translation>
    </message>
    <message>
        <source>cannot close %1</source>
        <translation>无法关闭 %1</translation>
    </message>
    <message>
        <source>cannot create the folder %1</source>
        <translation>无法创建文件夹 %1</translation>
    </message>
    <message>
        <source>cannot open the folder %1</source>
        <translation>无法打开文件夹 %1</translation>
    </message>
    <message>
        <source>cannot sync the folder %1</source>
        <translation>无法将文件夹 %1 同步到磁盘</translation>
    </message>
    <message>
        <source>cannot remove %1</source>
        <translation>无法删除 %1</translation>
    </message>
    <message>
        <source>cannot rename %1 to %2</source>
        <translation>无法将 %1 重命名为 %2</translation>
    </message>
    <message>
        <source>it lies on a network or synchronised file system (%1), where locks and syncs do not hold</source>
        <translation>它位于网络或同步文件系统（%1）上，锁和同步在那里不可靠</translation>
    </message>
    <message>
        <source>it lies on a network file system (%1), where locks do not hold</source>
        <translation>它位于网络文件系统（%1）上，锁在那里不可靠</translation>
    </message>
    <message>
        <source>it lies on a FAT file system, which can lose a whole file when the power fails</source>
        <translation>它位于 FAT 文件系统上，断电时可能丢失整个文件</translation>
    </message>
    <message>
        <source>cannot read %1</source>
        <translation>无法读取 %1</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>它不是普通文件</translation>
    </message>
    <message>
        <source>%1 ends at byte %2, before what should be read; it was cut short</source>
        <translation>%1 在第 %2 字节处结束，早于要读取的内容；它被截断了</translation>
    </message>
    <message>
        <source>the disk is read-only; choose another place</source>
        <translation>磁盘只读；请选择其他位置</translation>
    </message>
    <message>
        <source>another program has it open; close that program and try again</source>
        <translation>另一个程序正打开它；请关闭该程序后重试</translation>
    </message>
    <message>
        <source>it lies on a network drive, where locks do not hold</source>
        <translation>它位于网络驱动器上，锁在那里不可靠</translation>
    </message>
    <message>
        <source>cannot start %1</source>
        <translation>无法启动 %1</translation>
    </message>
    <message>
        <source>cannot start %1 in %2</source>
        <translation>无法在 %2 中启动 %1</translation>
    </message>
    <message>
        <source>There is no preset &apos;%1&apos;. Known are %2.</source>
        <translation>没有预设“%1”。已知的有 %2。</translation>
    </message>
    <message>
        <source>The cache cannot write its size to %1. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation>缓存无法将其大小写入 %1。请检查磁盘是否已满，或该文件是否属于他人。</translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by running runs and %4 more are to be written. Raise cache_gib.</source>
        <translation>缓存 %1 已满：上限为 %2，正在进行的运行需要其中 %3，还需写入 %4。请提高 cache_gib。</translation>
    </message>
    <message>
        <source>Checking the cache was cancelled.</source>
        <translation>缓存检查已取消。</translation>
    </message>
    <message>
        <source>%1 does not exist.</source>
        <translation>%1 不存在。</translation>
    </message>
    <message>
        <source>%1 is not a file that can be read.</source>
        <translation>%1 不是可读取的文件。</translation>
    </message>
    <message>
        <source>%1 has %2 bytes, had %3.</source>
        <translation>%1 现有 %2 字节，原有 %3 字节。</translation>
    </message>
    <message>
        <source>%1 has other content than when the run was made.</source>
        <translation>%1 的内容与创建运行时不同。</translation>
    </message>
    <message>
        <source>%1 was written at %2, after the run was made (%3).</source>
        <translation>%1 于 %2 被写入，晚于运行的创建时间（%3）。</translation>
    </message>
    <message>
        <source>The data manifest of this run has version %1; this Furrow reads up to %2. Use a newer one.</source>
        <translation>此运行的数据清单为版本 %1；此 Furrow 最多读取版本 %2。请使用更新的版本。</translation>
    </message>
    <message>
        <source>1 file</source>
        <translation>1 个文件</translation>
    </message>
    <message>
        <source>%1 files</source>
        <translation>%1 个文件</translation>
    </message>
    <message>
        <source>%1 expands more than %2 times (%3 out of %4), which looks like a decompression bomb. Unpack it yourself if it is meant so.</source>
        <translation>%1 解压后膨胀超过 %2 倍（由 %4 得到 %3），像是解压炸弹。如确属有意，请自行解压。</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its compressed data, after %2 of text. It is cut off: fetch or write it again.</source>
        <translation>%1 在压缩数据中途结束，此前有 %2 文本。它被截断了：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has damaged compressed data after %2 of text (%3). Fetch or write it again.</source>
        <translation>%1 在 %2 文本之后的压缩数据已损坏（%3）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>The evaluation text %1 has no sample that passes the filters of the run.</source>
        <translation>评估文本 %1 中没有样本能通过此运行的过滤条件。</translation>
    </message>
    <message>
        <source>The evaluation set %1 has version %2. Use the Furrow that wrote it.</source>
        <translation>评估集 %1 为版本 %2。请使用写入它的 Furrow。</translation>
    </message>
    <message>
        <source>Reading %1 was stopped.</source>
        <translation>已停止读取 %1。</translation>
    </message>
    <message>
        <source>%1 answered with more than 64 MiB where a list was expected.</source>
        <translation>%1 本应返回列表，却返回了超过 64 MiB 的内容。</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set, so the hub is not asked. Unset it, or use data that is on this machine.</source>
        <translation>已设置 HF_HUB_OFFLINE，因此不会访问 Hub。请取消该设置，或使用本机上的数据。</translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy, HF_ENDPOINT a mirror of the hub.</source>
        <translation>%1。请检查网络；https_proxy 指定代理，HF_ENDPOINT 指定 Hub 的镜像。</translation>
    </message>
    <message>
        <source>%1 redirects in a circle.</source>
        <translation>%1 循环重定向。</translation>
    </message>
    <message>
        <source>%1 has no such revision.</source>
        <translation>%1 没有该修订版本。</translation>
    </message>
    <message>
        <source>%1 does not exist, or is private: set HF_TOKEN to a token that may read it.</source>
        <translation>%1 不存在或为私有：请将 HF_TOKEN 设为有权读取它的令牌。</translation>
    </message>
    <message>
        <source>%1 does not have what was asked for (404).</source>
        <translation>%1 没有所请求的内容（404）。</translation>
    </message>
    <message>
        <source>%1: the hub answered %2.</source>
        <translation>%1：Hub 返回 %2。</translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s answer names no commit.</source>
        <translation>hf://%1：Hub 的响应未给出 commit。</translation>
    </message>
    <message>
        <source>hf://%1: the hub&apos;s list of files cannot be read.</source>
        <translation>hf://%1：无法读取 Hub 的文件列表。</translation>
    </message>
    <message>
        <source>hf://%1 redirects in a circle.</source>
        <translation>hf://%1 循环重定向。</translation>
    </message>
    <message>
        <source>%1 is another file on the hub than in its list; try again later.</source>
        <translation>%1 在 Hub 上的文件与其列表不一致；请稍后再试。</translation>
    </message>
    <message>
        <source>%1 is shorter than the hub&apos;s list says.</source>
        <translation>%1 比 Hub 列表所述的短。</translation>
    </message>
    <message>
        <source>%1: the server does not send the part of the file that was asked for.</source>
        <translation>%1：服务器未发送所请求的文件部分。</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (SHA-256). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation>%1 收到的内容与 Hub 列表所述不符（SHA-256）。请重试；若仍如此，则仓库或镜像已损坏。</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than the hub&apos;s list promises (git&apos;s SHA-1). Try again; if it stays so, the repository or a mirror is damaged.</source>
        <translation>%1 收到的内容与 Hub 列表所述不符（git 的 SHA-1）。请重试；若仍如此，则仓库或镜像已损坏。</translation>
    </message>
    <message>
        <source>%1: %2 of its files were looked at; the other %3 are taken to have the encoding and dialect of those before them. Name these in the settings if that is not so (--encoding, --csv-delimiter).</source>
        <translation>%1：查看了其中 %2 个文件；其余 %3 个按前面文件的编码和方言处理。如果不是这样，请在设置中指定（--encoding、--csv-delimiter）。</translation>
    </message>
    <message>
        <source>%1 ends before the bytes that were asked for.</source>
        <translation>%1 在所请求的字节之前就结束了。</translation>
    </message>
    <message>
        <source>The data manifest of this run names a file of the hub in a form that cannot be read.</source>
        <translation>此运行的数据清单以无法识别的形式指定了 Hub 上的文件。</translation>
    </message>
    <message>
        <source>hf://%1 has no config &apos;%2&apos;. It has: %3.</source>
        <translation>hf://%1 没有配置“%2”。它有：%3。</translation>
    </message>
    <message>
        <source>hf://%1 has several configs; name one, as in hf://%2:%3. It has: %4.</source>
        <translation>hf://%1 有多个配置；请指定一个，如 hf://%2:%3。它有：%4。</translation>
    </message>
    <message>
        <source>%1: %2 The form is %3.</source>
        <translation>%1：%2 格式为 %3。</translation>
    </message>
    <message>
        <source>it does not begin with hf://.</source>
        <translation>它不以 hf:// 开头。</translation>
    </message>
    <message>
        <source>the revision is not a name.</source>
        <translation>修订版本不是有效名称。</translation>
    </message>
    <message>
        <source>it has too many parts.</source>
        <translation>它的部分过多。</translation>
    </message>
    <message>
        <source>the repository is not owner/name.</source>
        <translation>仓库不是“所有者/名称”的形式。</translation>
    </message>
    <message>
        <source>hf://%1:%2 has no split &apos;%3&apos;. It has: %4.</source>
        <translation>hf://%1:%2 没有划分“%3”。它有：%4。</translation>
    </message>
    <message>
        <source>hf://%1:%2:%3 names no file that is there.</source>
        <translation>hf://%1:%2:%3 未指向任何现有文件。</translation>
    </message>
    <message>
        <source>Looking at the data was cancelled.</source>
        <translation>查看数据已取消。</translation>
    </message>
    <message>
        <source>%1 is empty.</source>
        <translation>%1 为空。</translation>
    </message>
    <message>
        <source>%1 has no file with text.</source>
        <translation>%1 中没有文本文件。</translation>
    </message>
    <message>
        <source>%1 has no file with text. %2</source>
        <translation>%1 中没有文本文件。%2</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>约 %1</translation>
    </message>
    <message>
        <source>No data is chosen. Name a file, a folder, a pattern or hf://owner/name.</source>
        <translation>尚未选择数据。请指定文件、文件夹、通配模式或 hf://所有者/名称。</translation>
    </message>
    <message>
        <source>%1 has no rows after start_sample.</source>
        <translation>%1 在 start_sample 之后没有行。</translation>
    </message>
    <message>
        <source>%1 has no rows.</source>
        <translation>%1 没有行。</translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet (%2). Fetch or write it again.</source>
        <translation>无法将 %1 作为 Parquet 读取（%2）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text.</source>
        <translation>%1：列“%2”不含文本。</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;.</source>
        <translation>%1 没有列“%2”。</translation>
    </message>
    <message>
        <source>%1 is a Parquet file, and this Furrow was built without Parquet. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation>%1 是 Parquet 文件，而此 Furrow 构建时未包含 Parquet。请转换为 jsonl，或以 FURROW_WITH_PARQUET=ON 构建。</translation>
    </message>
    <message>
        <source>%1 has a first line of more than 16 MiB where the names of the columns should be.</source>
        <translation>%1 的第一行本应是列名，却超过 16 MiB。</translation>
    </message>
    <message>
        <source>%1: the column &apos;%2&apos; holds no text. Columns with text are: %3.</source>
        <translation>%1：列“%2”不含文本。含文本的列有：%3。</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns are: %3.</source>
        <translation>%1 没有列“%2”。它的列有：%3。</translation>
    </message>
    <message>
        <source>%1 has no column with text. Its columns are: %2.</source>
        <translation>%1 没有含文本的列。它的列有：%2。</translation>
    </message>
    <message>
        <source>The folder %1 cannot be opened (%2).</source>
        <translation>无法打开文件夹 %1（%2）。</translation>
    </message>
    <message>
        <source>The folder %1 cannot be read (%2).</source>
        <translation>无法读取文件夹 %1（%2）。</translation>
    </message>
    <message>
        <source>%1 is a link out of the folder; name its target as a source of its own if it is meant.</source>
        <translation>%1 是指向文件夹之外的链接；如确需使用，请将其目标单独指定为来源。</translation>
    </message>
    <message>
        <source>%1 has more than %2 files. Name a smaller folder, or join the files.</source>
        <translation>%1 有超过 %2 个文件。请指定较小的文件夹，或合并文件。</translation>
    </message>
    <message>
        <source>The pattern names more than %1 files.</source>
        <translation>该通配模式匹配超过 %1 个文件。</translation>
    </message>
    <message>
        <source>No file matches %1.</source>
        <translation>没有文件匹配 %1。</translation>
    </message>
    <message>
        <source>The folder %1 has no file with text.</source>
        <translation>文件夹 %1 中没有文本文件。</translation>
    </message>
    <message>
        <source>%1 cannot be opened (%2).</source>
        <translation>无法打开 %1（%2）。</translation>
    </message>
    <message>
        <source>%1 is not a file or folder that can be read.</source>
        <translation>%1 不是可读取的文件或文件夹。</translation>
    </message>
    <message>
        <source>the text has no characters to make a character tokenizer of; use the tokenizer byte</source>
        <translation>文本中没有可用于构建字符分词器的字符；请使用分词器 byte</translation>
    </message>
    <message>
        <source>character tokenizer: %1</source>
        <translation>字符分词器：%1</translation>
    </message>
    <message>
        <source>the tokenizer char is made from the data of a run; to load a saved one give char:PATH</source>
        <translation>分词器 char 由运行的数据生成；要加载已保存的，请写 char:路径</translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has no GPU; &apos;cpu:2&apos; trains on the CPU.</source>
        <translation>devices 指定了“%1”，本机没有该设备。本机没有 GPU；“cpu:2”在 CPU 上训练。</translation>
    </message>
    <message>
        <source>devices names &apos;%1&apos;, which is not on this machine. It has %2.</source>
        <translation>devices 指定了“%1”，本机没有该设备。本机有 %2。</translation>
    </message>
    <message>
        <source>parallel is data, which splits each step over at least two workers, but there is one (%1). Name more devices, or set parallel to independent.</source>
        <translation>parallel 为 data，需要把每一步分给至少两个工作进程，但只有一个（%1）。请指定更多设备，或将 parallel 设为 independent。</translation>
    </message>
    <message>
        <source>workers is %1, but the number of GPUs in devices is %2: one worker trains on one GPU.</source>
        <translation>workers 为 %1，但 devices 中的 GPU 数为 %2：一个工作进程在一块 GPU 上训练。</translation>
    </message>
    <message>
        <source>init_from: the run in %1 has no checkpoint %2 in its tracker; `furrowctl eval` and the console list those it has.</source>
        <translation>init_from：%1 中的运行在其账本里没有检查点 %2；`furrowctl eval` 和控制台会列出现有的检查点。</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but checkpoint %1 has just ended a pass over this data: nothing of a new one is trained yet. Use parent_chunks=again.</source>
        <translation>parent_chunks 为 skip，但检查点 %1 刚完成对这些数据的一遍训练：新的一遍尚未开始。请使用 parent_chunks=again。</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but init_from names no checkpoint of a run. Give --init-from RUN/checkpoints/NAME, or leave parent_chunks at again.</source>
        <translation>parent_chunks 为 skip，但 init_from 未指定某个运行的检查点。请给出 --init-from RUN/checkpoints/名称，或让 parent_chunks 保持 again。</translation>
    </message>
    <message>
        <source>tokenizer is %1, but the weights of init_from were trained with another one. Use --tokenizer %2.</source>
        <translation>tokenizer 为 %1，但 init_from 的权重是用另一个分词器训练的。请使用 --tokenizer %2。</translation>
    </message>
    <message>
        <source>parent_chunks is skip, but the run of init_from was trained on other data or cut it into other chunks (data, chunk_samples, chunk_bytes, samples_per_block and seq_len must be the same). Use parent_chunks=again.</source>
        <translation>parent_chunks 为 skip，但 init_from 的运行使用了其他数据，或切成了不同的数据段（data、chunk_samples、chunk_bytes、samples_per_block 和 seq_len 必须相同）。请使用 parent_chunks=again。</translation>
    </message>
    <message>
        <source>tokenizer is char, which reads all data to find its characters; %1 is too much for that. Use byte or gpt2.</source>
        <translation>tokenizer 为 char，需要读取全部数据以找出字符；%1 太多了。请使用 byte 或 gpt2。</translation>
    </message>
    <message>
        <source>tokenizer is char, but the data has more than %1 different characters. Use byte or gpt2.</source>
        <translation>tokenizer 为 char，但数据有超过 %1 个不同的字符。请使用 byte 或 gpt2。</translation>
    </message>
    <message>
        <source>%1 is a run already. &apos;furrowctl resume&apos; goes on with it; for a new run name another folder.</source>
        <translation>%1 已是一个运行。“furrowctl resume”可恢复该运行；新建运行请指定其他文件夹。</translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the run.</source>
        <translation>%1 不为空。请为运行指定新的文件夹。</translation>
    </message>
    <message>
        <source>%1 cannot hold a training run: %2</source>
        <translation>%1 不能存放训练运行：%2</translation>
    </message>
    <message>
        <source>No sample of the data passes the filters: %1.</source>
        <translation>没有样本能通过过滤条件：%1。</translation>
    </message>
    <message>
        <source>all data together</source>
        <translation>全部数据</translation>
    </message>
    <message>
        <source>a chunk of %1 samples</source>
        <translation>一个含 %1 个样本的数据段</translation>
    </message>
    <message>
        <source>%1 is not the tokenizer this run began with. Put the original file back.</source>
        <translation>%1 不是此运行开始时的分词器。请放回原文件。</translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Its chunks and weights were made with that; put it back, or start a new run.</source>
        <translation>run.json 被编辑过：%1 为 %2，而运行开始时为 %3。其数据段和权重基于后者；请改回，或新建运行。</translation>
    </message>
    <message>
        <source>run.json was edited: %1 is %2, the run began with %3. Put it back; what may change is changed with &apos;furrowctl resume %4&apos;, which keeps what was before.</source>
        <translation>run.json 被编辑过：%1 为 %2，而运行开始时为 %3。请恢复原值；可以更改的设置请用“furrowctl resume %4”更改，它会保留之前的值。</translation>
    </message>
    <message>
        <source>Nothing can be changed in %1 from here: %2. Use Furrow on the computer that trains it.</source>
        <translation>无法从这里更改 %1：%2。请在训练它的计算机上使用 Furrow。</translation>
    </message>
    <message>
        <source>%1 is not running. &apos;furrowctl status&apos; says how it ended.</source>
        <translation>%1 未在运行。“furrowctl status”会说明它是如何结束的。</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1.</source>
        <translation>运行没有检查点 %1。</translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy.</source>
        <translation>%1 已被保留策略删除。</translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more; start a new run from it instead (--init-from).</source>
        <translation>%1 已不在权重的来源链中；请改为从它新建运行（--init-from）。</translation>
    </message>
    <message>
        <source>%1 is damaged.</source>
        <translation>%1 已损坏。</translation>
    </message>
    <message>
        <source>the supervisor ended before it held the run; see %1</source>
        <translation>监督进程在接管运行之前就已结束；见 %1</translation>
    </message>
    <message>
        <source>the supervisor did not take the run within 30 seconds; see %1</source>
        <translation>监督进程在 30 秒内未接管运行；见 %1</translation>
    </message>
    <message>
        <source>%1 is already running, held by process %2. Stop it first.</source>
        <translation>%1 已在运行，由进程 %2 持有。请先停止。</translation>
    </message>
    <message>
        <source>%1 is already running. Stop it first.</source>
        <translation>%1 已在运行。请先停止。</translation>
    </message>
    <message>
        <source>%1 was never started, so there is nothing to accept.</source>
        <translation>%1 从未启动，没有可接受的内容。</translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are; a resume merges them.</source>
        <translation>合并已停止。副本保持原样；恢复运行时会合并。</translation>
    </message>
    <message>
        <source>%1 cannot be used: %2</source>
        <translation>无法使用 %1：%2</translation>
    </message>
    <message>
        <source>it is not the run.json of a Furrow run.</source>
        <translation>它不是 Furrow 运行的 run.json。</translation>
    </message>
    <message>
        <source>%1 was made by Furrow %2 (format %3). This is %4, which reads format 1; use the newer program.</source>
        <translation>%1 由 Furrow %2 创建（格式 %3）。此版本为 %4，读取格式 1；请使用更新的程序。</translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json.</source>
        <translation>%1 不是运行：其中没有 run.json。</translation>
    </message>
    <message>
        <source>%1 holds no telemetry: the run was never started.</source>
        <translation>%1 中没有遥测数据：此运行从未启动。</translation>
    </message>
    <message>
        <source>%1 is not empty. Name a new folder for the export.</source>
        <translation>%1 不为空。请为导出指定新的文件夹。</translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (%2); `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本 %1 已损坏（%2）；`furrowctl doctor %3 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>the disk is full: %1 could not be written; free some space and resume</source>
        <translation>磁盘已满：无法写入 %1；请释放一些空间后恢复运行</translation>
    </message>
    <message>
        <source>%1: reading or writing failed (%2); check the disk</source>
        <translation>%1：读取或写入失败（%2）；请检查磁盘</translation>
    </message>
    <message>
        <source>%1 exists already</source>
        <translation>%1 已存在</translation>
    </message>
    <message>
        <source>the tracker %1 lacks &apos;%2&apos;; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本 %1 缺少“%2”；`furrowctl doctor %3 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>%1 cannot be changed from here: %2; do that on the computer that trains the run</source>
        <translation>无法从这里更改 %1：%2；请在训练该运行的计算机上操作</translation>
    </message>
    <message>
        <source>%1 is not a tracker of Furrow, or was never finished; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>%1 不是 Furrow 的账本，或从未完成；`furrowctl doctor %2 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>%1 was written with tracker version %2, this Furrow reads up to version %3; open the run with a newer Furrow</source>
        <translation>%1 以账本版本 %2 写入，此 Furrow 最多读取版本 %3；请用更新的 Furrow 打开该运行</translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which this Furrow cannot bring to version %3</source>
        <translation>%1 的账本版本为 %2，此 Furrow 无法将其升级到版本 %3</translation>
    </message>
    <message>
        <source>a stopping rule cannot be negative</source>
        <translation>停止规则不能为负</translation>
    </message>
    <message>
        <source>a run cannot live in %1: %2</source>
        <translation>运行不能存放在 %1：%2</translation>
    </message>
    <message>
        <source>%1 is being trained; it can be left out when the run is stopped</source>
        <translation>%1 正在训练；停止运行后可将其略去</translation>
    </message>
    <message>
        <source>%1 is %2, not poisoned</source>
        <translation>%1 的状态为 %2，不是有毒</translation>
    </message>
    <message>
        <source>%1 could not be replaced: %2</source>
        <translation>无法替换 %1：%2</translation>
    </message>
    <message>
        <source>there is no checkpoint %1</source>
        <translation>没有检查点 %1</translation>
    </message>
    <message>
        <source>there is no %1</source>
        <translation>没有 %1</translation>
    </message>
    <message>
        <source>%1 was removed by the keep policy</source>
        <translation>%1 已被保留策略删除</translation>
    </message>
    <message>
        <source>%1 is damaged</source>
        <translation>%1 已损坏</translation>
    </message>
    <message>
        <source>%1 is not in the lineage of the weights any more</source>
        <translation>%1 已不在权重的来源链中</translation>
    </message>
    <message>
        <source>workers are alive; a run goes back only while nobody trains it</source>
        <translation>仍有工作进程存活；只有无人训练时运行才能回退</translation>
    </message>
    <message>
        <source>%1 is the newest of a replica or the base of new ones and must stay</source>
        <translation>%1 是某个副本的最新检查点或新检查点的起点，必须保留</translation>
    </message>
    <message>
        <source>%1 is pinned</source>
        <translation>%1 已固定</translation>
    </message>
    <message>
        <source>there is no checkpoint %1 with files</source>
        <translation>没有带文件的检查点 %1</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads state format 1.</source>
        <translation>检查点 %1 由更新的 Furrow 写入；此版本读取状态格式 1。</translation>
    </message>
    <message>
        <source>there is no held-out text to evaluate on; set held_out_percent above 0 in a new run, or name a file with --data</source>
        <translation>没有可用于评估的留出文本；请在新运行中将 held_out_percent 设为大于 0，或用 --data 指定文件</translation>
    </message>
    <message>
        <source>the evaluation was interrupted</source>
        <translation>评估已中断</translation>
    </message>
    <message>
        <source>there is nothing to merge</source>
        <translation>没有可合并的内容</translation>
    </message>
    <message>
        <source>checkpoint %1 does not fit %2: %3</source>
        <translation>检查点 %1 与 %2 不匹配：%3</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be merged: its tensor %2 has NaN or Inf. Go back to an earlier checkpoint of this replica.</source>
        <translation>检查点 %1 无法合并：其张量 %2 含有 NaN 或 Inf。请回到此副本较早的检查点。</translation>
    </message>
    <message>
        <source>the base of this merge lacks the tensor %1: its members do not grow from it</source>
        <translation>此合并的起点缺少张量 %1：其成员并非由它得来</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights, but ema_decay is 0 here</source>
        <translation>张量“%1”在保存的权重中，但此处 ema_decay 为 0</translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here, only cpu: %2.</source>
        <translation>此处没有设备“%1”，只有 cpu：%2。</translation>
    </message>
    <message>
        <source>There is no device &apos;%1&apos; here. What there is: %2.</source>
        <translation>此处没有设备“%1”。现有设备：%2。</translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), or lower seq_len or width. What was said: %5</source>
        <translation>%1 在一步 %2 个窗口、每个 %3 个词元时内存不足；最多使用了 %4。请降低 batch_size（并提高 grad_accum 以保持步的大小），或降低 seq_len 或 width。原始信息：%5</translation>
    </message>
    <message>
        <source>%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), turn recompute on, or lower seq_len or width. What was said: %5</source>
        <translation>%1 在一步 %2 个窗口、每个 %3 个词元时内存不足；最多使用了 %4。请降低 batch_size（并提高 grad_accum 以保持步的大小），开启 recompute，或降低 seq_len 或 width。原始信息：%5</translation>
    </message>
    <message>
        <source>The merge was stopped. The replicas are kept as they are.</source>
        <translation>合并已停止。副本保持原样。</translation>
    </message>
    <message>
        <source>the base %1 of this merge is not in the tracker</source>
        <translation>此合并的起点 %1 不在账本中</translation>
    </message>
    <message>
        <source>No replica has weights that can be merged. %1</source>
        <translation>没有副本具有可合并的权重。%1</translation>
    </message>
    <message>
        <source>%1 was never started. Start it with &apos;furrowctl resume&apos;.</source>
        <translation>%1 从未启动。请用“furrowctl resume”启动。</translation>
    </message>
    <message>
        <source>the tracker has no checkpoint %1</source>
        <translation>账本中没有检查点 %1</translation>
    </message>
    <message>
        <source>the tracker names checkpoint %1 as the head of replica %2 and has no row of it</source>
        <translation>账本将检查点 %1 列为副本 %2 的头，却没有它的记录</translation>
    </message>
    <message>
        <source>checkpoint %1 was made by the %2 learner, this worker was started with the %3 one</source>
        <translation>检查点 %1 由 %2 学习器生成，而此工作进程以 %3 启动</translation>
    </message>
    <message>
        <source>Name the folder to make with --out.</source>
        <translation>请用 --out 指定要创建的文件夹。</translation>
    </message>
    <message>
        <source>the counting model cannot be exported</source>
        <translation>计数模型无法导出</translation>
    </message>
    <message>
        <source>%1 is being trained; it merges by itself. Stop it first to merge by hand.</source>
        <translation>%1 正在训练，会自行合并。要手动合并请先停止。</translation>
    </message>
    <message>
        <source>--checkpoints needs two or more folder names, joined by commas.</source>
        <translation>--checkpoints 需要两个或更多文件夹名，以逗号分隔。</translation>
    </message>
    <message>
        <source>the run has no checkpoint &apos;%1&apos;</source>
        <translation>运行没有检查点“%1”</translation>
    </message>
    <message>
        <source>%1 and %2 do not grow from one base; an average of them would be garbage</source>
        <translation>%1 与 %2 并非来自同一起点；它们的平均没有意义</translation>
    </message>
    <message>
        <source>method is &apos;%1&apos;, allowed is one of average, diloco.</source>
        <translation>method 为“%1”，可以是 average 或 diloco。</translation>
    </message>
    <message>
        <source>the counting model writes no text</source>
        <translation>计数模型不生成文本</translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy.</source>
        <translation>检查点 %1 已被保留策略删除。</translation>
    </message>
    <message>
        <source>The run has no checkpoint &apos;%1&apos;. They are the folders in %2.</source>
        <translation>运行没有检查点“%1”。检查点是 %2 中的文件夹。</translation>
    </message>
    <message>
        <source>the counting model has nothing to evaluate</source>
        <translation>计数模型没有可评估的内容</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has shape %2; the model needs %3</source>
        <translation>张量“%1”的形状为 %2；模型需要 %3</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds no floating-point numbers</source>
        <translation>张量“%1”不含浮点数</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; holds NaN or Inf; the weights were not loaded</source>
        <translation>张量“%1”含有 NaN 或 Inf；未加载权重</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved weights</source>
        <translation>保存的权重中缺少张量“%1”</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is in the saved weights but not in this model</source>
        <translation>张量“%1”在保存的权重中，但不在此模型中</translation>
    </message>
    <message>
        <source>the prompt holds no token; give at least one character</source>
        <translation>提示词不含词元；请至少输入一个字符</translation>
    </message>
    <message>
        <source>sampling needs temperature &gt;= 0, top-k &gt;= 0, top-p in (0, 1] and tokens &gt;= 0</source>
        <translation>采样要求 temperature &gt;= 0、top-k &gt;= 0、top-p 在 (0, 1] 内、tokens &gt;= 0</translation>
    </message>
    <message>
        <source>the prompt holds token %1, outside the model&apos;s vocabulary of %2</source>
        <translation>提示词含有词元 %1，超出模型的词表（%2）</translation>
    </message>
    <message>
        <source>%1 has no weight_map</source>
        <translation>%1 没有 weight_map</translation>
    </message>
    <message>
        <source>%1: the file of tensor &apos;%2&apos; is not text</source>
        <translation>%1：张量“%2”的文件名不是文本</translation>
    </message>
    <message>
        <source>%1 points outside its folder</source>
        <translation>%1 指向其文件夹之外</translation>
    </message>
    <message>
        <source>%1 lists more than 10000 files</source>
        <translation>%1 列出了超过 10000 个文件</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing</source>
        <translation>缺少张量“%1”</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has another shape or type than config.json describes</source>
        <translation>张量“%1”的形状或类型与 config.json 所述不同</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is unknown in this layout</source>
        <translation>张量“%1”在此布局中未知</translation>
    </message>
    <message>
        <source>two to eight runs can be compared, not %1</source>
        <translation>可以比较二到八个运行，不能是 %1 个</translation>
    </message>
    <message>
        <source>the queue of %1 is run by another process already</source>
        <translation>%1 的队列已由另一个进程执行</translation>
    </message>
    <message>
        <source>entry %1 of the queue is not in training</source>
        <translation>队列的第 %1 项不在训练中</translation>
    </message>
    <message>
        <source>no other run waits for the devices of %1</source>
        <translation>没有其他运行在等待 %1 的设备</translation>
    </message>
    <message>
        <source>%1 does not lie in this workspace; only its own runs go to its trash</source>
        <translation>%1 不在此工作区中；只有本工作区的运行才能移到其回收站</translation>
    </message>
    <message>
        <source>%1 does not lie in the trash of this workspace</source>
        <translation>%1 不在此工作区的回收站中</translation>
    </message>
    <message>
        <source>%1 was written by a newer Furrow (version %2); use that one</source>
        <translation>%1 由更新的 Furrow（版本 %2）写入；请使用该版本</translation>
    </message>
    <message>
        <source>%1 is in the queue already</source>
        <translation>%1 已在队列中</translation>
    </message>
    <message>
        <source>this run of the queue is in training; stop it first</source>
        <translation>队列中的此运行正在训练；请先停止</translation>
    </message>
    <message>
        <source>the queue has no entry %1</source>
        <translation>队列没有第 %1 项</translation>
    </message>
    <message>
        <source>%1 is %2, but two prepared blocks of %3 samples take about %4. Raise it, or lower %5.</source>
        <translation>%1 为 %2，但两个各含 %3 个样本的已准备块约占 %4。请提高它，或降低%5。</translation>
    </message>
    <message>
        <source>%1 is %2, but all data together has %3 tokens, less than one window.</source>
        <translation>%1 为 %2，但全部数据只有 %3 个词元，不足一个窗口。</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 packs into about %4 windows of %5 %6 tokens, and no step goes over the edge of a chunk. Lower it, or raise %7.</source>
        <translation>%1 为 %2，但%3约装成 %4 个窗口（%5为 %6 个词元），而一步不会跨越数据段的边界。请降低它，或提高%7。</translation>
    </message>
    <message>
        <source>%1 is %2, allowed is auto, none, comma, semicolon, tab, pipe, space or one ASCII character.</source>
        <translation>%1 为 %2，允许的值是 auto、none、comma、semicolon、tab、pipe、space 或一个 ASCII 字符。</translation>
    </message>
    <message>
        <source>%1 is none, but the fields of a csv file need something between them.</source>
        <translation>%1 为 none，但 csv 文件的字段之间需要分隔符。</translation>
    </message>
    <message>
        <source>%1 is the same character as %2.</source>
        <translation>%1 与 %2 是同一个字符。</translation>
    </message>
    <message>
        <source>The texts of a list are joined by line breaks.</source>
        <translation>列表中的文本以换行符连接。</translation>
    </message>
    <message>
        <source>Other columns with text: %1. The setting text_column chooses.</source>
        <translation>其他含文本的列：%1。用设置 text_column 选择。</translation>
    </message>
    <message>
        <source>The text is column %1, as text_column says.</source>
        <translation>文本取自列 %1，由 text_column 指定。</translation>
    </message>
    <message>
        <source>The text is column %1, chosen by its name.</source>
        <translation>文本取自列 %1，按名称选定。</translation>
    </message>
    <message>
        <source>The text is column %1, the only one with text.</source>
        <translation>文本取自列 %1，它是唯一含文本的列。</translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation>到目前为止准备的词元中有 %1 % 代表词表中没有的字符。如果文本读取有误，请设置 encoding，或换用其他分词器。</translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its first record names the columns.</source>
        <translation>%1 是 csv：分隔符 %2，引号 %3，转义符 %4；第一条记录是列名。</translation>
    </message>
    <message>
        <source>%1 is csv: delimiter %2, quote %3, escape %4; its columns have no names.</source>
        <translation>%1 是 csv：分隔符 %2，引号 %3，转义符 %4；列没有名称。</translation>
    </message>
    <message>
        <source>%1 is %2 text and is converted to UTF-8.</source>
        <translation>%1 是 %2 文本，将转换为 UTF-8。</translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They stay as they are; set encoding if the text has another one.</source>
        <translation>%1 含有不是 UTF-8 的字节。它们保持原样；如果文本使用其他编码，请设置 encoding。</translation>
    </message>
    <message>
        <source>%1, line %2: a quote that begins in this record is not closed where a field ends, and would swallow the lines after it. Close it, or say with csv_quote, csv_escape or csv_delimiter how the file is written.</source>
        <translation>%1，第 %2 行：此记录中开始的引号没有在字段末尾闭合，会吞掉后面的行。请闭合它，或用 csv_quote、csv_escape 或 csv_delimiter 说明文件的写法。</translation>
    </message>
    <message>
        <source>There is no encoding &apos;%1&apos;. Known are utf-8, utf-16le, windows-1252, shift_jis, gb18030 and the others that ICU has.</source>
        <translation>没有名为“%1”的编码。已知的有 utf-8、utf-16le、windows-1252、shift_jis、gb18030 以及 ICU 支持的其他编码。</translation>
    </message>
    <message>
        <source>Row %1 of its file cannot become tokens. %2 The line &apos;sample %3&apos; on the quarantine list (exclude) leaves it out.</source>
        <translation>文件中第 %1 行无法转换为词元。%2 在隔离清单（exclude）中加入一行“sample %3”即可将其排除。</translation>
    </message>
    <message>
        <source>The pattern %1 tells characters beside %2 apart, and Oniguruma %3 of this system does not know that one. Install Oniguruma 6.9.10 or later, or leave the text out.</source>
        <translation>模式 %1 会区分 %2 附近的字符，而本系统的 Oniguruma %3 不认识该字符。请安装 Oniguruma 6.9.10 或更高版本，或排除这段文本。</translation>
    </message>
    <message>
        <source>What the pattern %1 matches in a text of %2 bytes cannot be found out (%3). Write a pattern that backtracks less, or leave the text out.</source>
        <translation>无法确定模式 %1 在一段 %2 字节的文本中匹配什么（%3）。请改用回溯较少的模式，或排除这段文本。</translation>
    </message>
    <message>
        <source>The sentencepiece model %1 does not encode a text of %2 bytes: %3.</source>
        <translation>sentencepiece 模型 %1 无法编码一段 %2 字节的文本：%3。</translation>
    </message>
    <message>
        <source>it is a link to a file elsewhere</source>
        <translation>它是指向别处文件的链接</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a name or password in it, which would be kept in the run. Give a file, or hf://owner/name and the secret in HF_TOKEN.</source>
        <translation>%1 含有 %2，这个地址带有用户名或密码，会被保存在运行中。请给出文件，或使用 hf://owner/name 并把密钥放在 HF_TOKEN 中。</translation>
    </message>
    <message>
        <source>hf://%1: the list of files does not end (%2). The server is at fault; try again later, or without the mirror that HF_ENDPOINT names.</source>
        <translation>hf://%1：文件列表没有尽头（%2）。这是服务器的问题；请稍后再试，或不使用 HF_ENDPOINT 指定的镜像。</translation>
    </message>
    <message>
        <source>page %1 leads back to one before it</source>
        <translation>第 %1 页又指回之前的页</translation>
    </message>
    <message>
        <source>%1 pages and %2 files so far</source>
        <translation>目前已有 %1 页、%2 个文件</translation>
    </message>
    <message>
        <source>Whether %1 (%2) is free cannot be told: %3. Choose another device, or have that mended first.</source>
        <translation>无法得知 %1（%2）是否空闲：%3。请选择其他设备，或先解决此问题。</translation>
    </message>
    <message>
        <source>%1 (%2) is in use by another run. Choose another device, or stop that run first.</source>
        <translation>%1（%2）正被另一个运行使用。请选择其他设备，或先停止那个运行。</translation>
    </message>
    <message>
        <source>SIGKILL, sender unknown</source>
        <translation>SIGKILL，发送者未知</translation>
    </message>
    <message>
        <source>The %1 workers would take about %2 of memory together, and this machine has %3. Fewer workers, a smaller batch_size or a smaller model need less.</source>
        <translation>%1 个工作进程合计约需 %2 内存，而本机只有 %3。减少工作进程、减小 batch_size 或使用更小的模型可降低需求。</translation>
    </message>
    <message>
        <source>The %1 workers want %2 cores together, and this machine has %3: they would take turns and be no faster. Use fewer workers or threads.</source>
        <translation>%1 个工作进程合计需要 %2 个核心，而本机只有 %3 个：它们将轮流运行，不会更快。请减少工作进程或线程。</translation>
    </message>
    <message>
        <source>cannot list %1</source>
        <translation>无法列出 %1</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2 is not there. Is its disk mounted?</source>
        <translation>无法读取检查点 %1：%2 不存在。它所在的磁盘已挂载吗？</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be read: %2</source>
        <translation>无法读取检查点 %1：%2</translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there?</source>
        <translation>%1 已不存在。它所在的磁盘还在吗？</translation>
    </message>
    <message>
        <source>%1 Older checkpoints are kept until two newer ones are whole.</source>
        <translation>%1 在两个较新的检查点确认完整之前，较旧的检查点会保留。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with %2 chunks.</source>
        <translation>检查点 %1 曾被标记为损坏，其实完好：已连同 %2 个数据段一起收回。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The run went on without it, so it stays out of the weights; a new run can start from it.</source>
        <translation>检查点 %1 曾被标记为损坏，其实完好。运行已在没有它的情况下继续，因此它不再属于权重；新的运行可以从它开始。</translation>
    </message>
    <message>
        <source>%1 unfinished checkpoint folders were removed.</source>
        <translation>已移除 %1 个未完成的检查点文件夹。</translation>
    </message>
    <message>
        <source>%1 is a link and was left as it is.</source>
        <translation>%1 是链接，保持原样。</translation>
    </message>
    <message>
        <source>%1 Nothing was changed.</source>
        <translation>%1 未作任何更改。</translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on from the newest whole checkpoint before it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation>请放回完整的副本后恢复运行；或者用“furrowctl resume %1 --accept-loss”从它之前最新的完整检查点继续，并重新训练其数据段（“--dry-run”会显示是哪些）。</translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it and trains its chunks again (&apos;--dry-run&apos; shows which).</source>
        <translation>请恢复该文件或其磁盘后恢复运行；或者用“furrowctl resume %1 --accept-loss”在没有它的情况下继续，并重新训练其数据段（“--dry-run”会显示是哪些）。</translation>
    </message>
    <message>
        <source>%1 Its %2 chunks are free again.</source>
        <translation>%1 其 %2 个数据段重新空闲。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.</source>
        <translation>检查点 %1 曾被标记为损坏，其实完好。若仍有可能，下次恢复时会收回它。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole. Where a resume can take it back, fewer chunks are trained again than counted here.</source>
        <translation>检查点 %1 曾被标记为损坏，其实完好。如果恢复时能够收回它，需要重新训练的数据段会比这里统计的少。</translation>
    </message>
    <message>
        <source>%1 No whole checkpoint is left behind it: training would begin again from the start weights.</source>
        <translation>%1 在它之前没有完整的检查点：训练将从初始权重重新开始。</translation>
    </message>
    <message>
        <source>%1 The one before it would be used.</source>
        <translation>%1 将使用它之前的那个。</translation>
    </message>
    <message>
        <source>It was marked damaged and is whole; a resume takes it back where that is still possible.</source>
        <translation>它曾被标记为损坏，其实完好；若仍有可能，恢复时会收回它。</translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.</source>
        <translation>%1 是链接，Furrow 不会通过运行文件夹中的链接写入或删除任何内容。请把文件夹或文件本身放在那里，在该处挂载另一块磁盘，或移动整个运行。</translation>
    </message>
    <message>
        <source>it knows no checkpoint</source>
        <translation>它没有任何检查点的记录</translation>
    </message>
    <message>
        <source>the newest checkpoint that it knows is %1 (step %2, %3)</source>
        <translation>它所记录的最新检查点是 %1（第 %2 步，%3）</translation>
    </message>
    <message>
        <source>The tracker %1 is older than the weights: %2, and in %3 lie manifests of this run that it does not know: %4, the newest %5 (step %6, %7).</source>
        <translation>账本 %1 比权重旧：%2，而 %3 中有此运行的、账本未记录的清单：%4 份，最新的是 %5（第 %6 步，%7）。</translation>
    </message>
    <message>
        <source>%1 of the entries in %2 are not known to the tracker; nothing of them was deleted, they were moved to %3: %4</source>
        <translation>%2 中有 %1 个条目在账本中没有记录；没有删除任何内容，已将它们移到 %3：%4</translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the prepared file of block %2, which is not the name of a file; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本将“%1”记为块 %2 的已准备文件，而这不是文件名；`furrowctl doctor %3 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>the tracker names &apos;%1&apos; as the folder of checkpoint %2, which is not the name of a folder; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本将“%1”记为检查点 %2 的文件夹，而这不是文件夹名；`furrowctl doctor %3 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>there is no damaged checkpoint %1</source>
        <translation>没有损坏的检查点 %1</translation>
    </message>
    <message>
        <source>checkpoint %1 was found whole again</source>
        <translation>检查点 %1 再次确认完整</translation>
    </message>
    <message>
        <source>cannot look at %1</source>
        <translation>无法查看 %1</translation>
    </message>
    <message>
        <source>The download %1 has other bytes than the hub promised (SHA-256).</source>
        <translation>下载的 %1 与 Hub 给出的内容不符（SHA-256）。</translation>
    </message>
    <message>
        <source>The rows %1 to %2 of %3 are not those that were there when the run planned its blocks: the file was changed. Restore it and try the chunks again, accept them as not trained, or begin a new run.</source>
        <translation>%3 的第 %1 至 %2 行不是本次运行规划块时的内容：文件已被更改。请恢复该文件并重试这些数据段，或接受其不训练，或开始新的运行。</translation>
    </message>
    <message>
        <source>%1 is a pointer of git-lfs, not the data itself. Fetch the data with &apos;git lfs pull&apos;.</source>
        <translation>%1 是 git-lfs 的指针，不是数据本身。请用“git lfs pull”取回数据。</translation>
    </message>
    <message>
        <source>%1 is a web page, not data: its download was refused or needs a log-in. Fetch it again.</source>
        <translation>%1 是网页而不是数据：下载被拒绝或需要登录。请重新获取。</translation>
    </message>
    <message>
        <source>%1 is Parquet with an encrypted footer, which Furrow cannot read. Write it again without encryption.</source>
        <translation>%1 是页脚加密的 Parquet，Furrow 无法读取。请以不加密的方式重新写出。</translation>
    </message>
    <message>
        <source>%1 ends as Parquet and does not begin so: its first bytes are damaged. Fetch or write it again.</source>
        <translation>%1 的结尾是 Parquet 而开头不是：其最前面的字节已损坏。请重新获取或写出。</translation>
    </message>
    <message>
        <source>%1 is called Parquet and is %2. Give it its right name, or write it as Parquet.</source>
        <translation>%1 名为 Parquet，内容却是 %2。请改成正确的名称，或写成 Parquet。</translation>
    </message>
    <message>
        <source>%1 is called Parquet and neither begins nor ends as such a file. Fetch or write it again, or give it its right name.</source>
        <translation>%1 名为 Parquet，但开头和结尾都不是这种文件。请重新获取或写出，或改成正确的名称。</translation>
    </message>
    <message>
        <source>%1 is called JSON lines, and none of its first lines is a JSON object. Give it its right name, or write one object per line.</source>
        <translation>%1 名为 JSON lines，但前面的行没有一个是 JSON 对象。请改成正确的名称，或每行写一个对象。</translation>
    </message>
    <message>
        <source>%1 is called %2 and does not begin as such a file: its first bytes are damaged, or it has a wrong name. Fetch or write it again, or give it its right name.</source>
        <translation>%1 名为 %2，但开头不是这种文件：最前面的字节已损坏，或名称有误。请重新获取或写出，或改成正确的名称。</translation>
    </message>
    <message>
        <source>The download %1 is damaged: its checksum differs.</source>
        <translation>下载 %1 已损坏：校验和不同。</translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3 at %4/s, %5 left</source>
        <translation>正在下载 %1：%2 / %3，%4/s，还需 %5</translation>
    </message>
    <message>
        <source>Reading the downloads</source>
        <translation>正在读取下载内容</translation>
    </message>
    <message>
        <source>%1 is not compared with the SHA-256 that the hub promises: %2.</source>
        <translation>%1 不与 Hub 给出的 SHA-256 比较：%2。</translation>
    </message>
    <message>
        <source>it is larger than a quarter of the cache (cache_gib), so it is read by parts</source>
        <translation>它大于缓存的四分之一（cache_gib），因此分段读取</translation>
    </message>
    <message>
        <source>only the columns that are needed are read of it</source>
        <translation>只读取其中需要的列</translation>
    </message>
    <message>
        <source>the hub promises no SHA-256 of it</source>
        <translation>Hub 没有给出它的 SHA-256</translation>
    </message>
    <message>
        <source>Block %1 was first prepared from a copy of %2 that was not what the hub promises (SHA-256), and has other rows now. What was trained of it stays in the weights. Begin a new run, or accept its other chunks as not trained.</source>
        <translation>块 %1 最初由 %2 的一个副本准备，该副本与 Hub 给出的内容不符（SHA-256），现在的行已不同。其中已训练的部分留在权重中。请开始新的运行，或接受其余数据段不训练。</translation>
    </message>
    <message>
        <source>the copy of %1 on this disk was wrong when it was prepared, or became so</source>
        <translation>本磁盘上 %1 的副本在准备时就有错，或后来损坏</translation>
    </message>
    <message>
        <source>%1 does not hold what the hub promises of %2 (SHA-256).</source>
        <translation>%1 的内容与 Hub 给出的 %2 不符（SHA-256）。</translation>
    </message>
    <message>
        <source>%1 does not hold what the hub&apos;s list promises of %2 (git&apos;s SHA-1).</source>
        <translation>%1 的内容与 Hub 列表给出的 %2 不符（git 的 SHA-1）。</translation>
    </message>
    <message>
        <source>The name of %1 is not UTF-8, so a run cannot keep it. Rename the file.</source>
        <translation>%1 的名称不是 UTF-8，运行无法记录它。请重命名该文件。</translation>
    </message>
    <message>
        <source>%1 was written to while it was read</source>
        <translation>%1 在读取期间被写入</translation>
    </message>
    <message>
        <source>%1 was written to while the run reads it.</source>
        <translation>%1 在运行读取期间被写入。</translation>
    </message>
    <message>
        <source>1 chunk cannot be read (%1).</source>
        <translation>1 个数据段无法读取（%1）。</translation>
    </message>
    <message>
        <source>%1 chunks cannot be read (the first: %2).</source>
        <translation>%1 个数据段无法读取（第一个：%2）。</translation>
    </message>
    <message>
        <source>%1: only the column &apos;%2&apos; is fetched (%3 % of the files), so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation>%1：只获取列“%2”（占文件的 %3 %），因此无法把收到的内容与 Hub 给出的 SHA-256 比较。</translation>
    </message>
    <message>
        <source>the audit was ended before it was done</source>
        <translation>审计在完成前被终止</translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded</source>
        <translation>%1：%2 中其样本的指纹与账本所记不符</translation>
    </message>
    <message>
        <source>%1: its rows, windows or tokens in %2 are not those that the tracker recorded</source>
        <translation>%1：%2 中其行、窗口或词元与账本所记不符</translation>
    </message>
    <message>
        <source>block %1 has the file &apos;%2&apos;, which is not the name of a file</source>
        <translation>块 %1 的文件为“%2”，这不是文件名</translation>
    </message>
    <message>
        <source>block %1: %2</source>
        <translation>块 %1：%2</translation>
    </message>
    <message>
        <source>block %1: the file %2 is whole and has other content than the tracker recorded: it was replaced</source>
        <translation>块 %1：文件 %2 完整，但内容与账本所记不同：它被替换了</translation>
    </message>
    <message>
        <source>the prepared block</source>
        <translation>已准备的块</translation>
    </message>
    <message>
        <source>Reading the prepared blocks</source>
        <translation>正在读取已准备的块</translation>
    </message>
    <message>
        <source>block %1: prepared from the source once more it has other content than the tracker recorded</source>
        <translation>块 %1：从数据源重新准备后，内容与账本所记不同</translation>
    </message>
    <message>
        <source>the source</source>
        <translation>数据源</translation>
    </message>
    <message>
        <source>Reading the source once more</source>
        <translation>正在重新读取数据源</translation>
    </message>
    <message>
        <source>%1 blocks prepared once more from %2 of text, and the fingerprints of their samples, chunk by chunk</source>
        <translation>从 %2 文本重新准备了 %1 个块，并逐段比较其样本的指纹</translation>
    </message>
    <message>
        <source>Reading the manifests of the checkpoints</source>
        <translation>正在读取检查点的清单</translation>
    </message>
    <message>
        <source>%1: checkpoint %2 trained windows %3 by its manifest and %4 by the tracker</source>
        <translation>%1：检查点 %2 按其清单训练了窗口 %3，按账本为 %4</translation>
    </message>
    <message>
        <source>the windows in %1 manifests against %2 part rows of the tracker</source>
        <translation>%1 份清单中的窗口与账本 %2 条部分记录的对照</translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 could not be inspected: its manifest cannot be used</source>
        <translation>无法检查检查点 %1 的权重：其清单不可用</translation>
    </message>
    <message>
        <source>there is no checkpoint yet</source>
        <translation>还没有检查点</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of all %3 checkpoints that are there</source>
        <translation>现有全部 %3 个检查点的 %1 个文件（%2）的 SHA-256</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints, the newest of each replica</source>
        <translation>%3 个检查点（每个副本最新的一个）的 %1 个文件（%2）的 SHA-256</translation>
    </message>
    <message>
        <source>checkpoint %1 has the folder &apos;%2&apos;, which is not the name of a folder</source>
        <translation>检查点 %1 的文件夹为“%2”，这不是文件夹名</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that the tracker recorded (its SHA-256 differs): the file was changed, or belongs to another checkpoint</source>
        <translation>检查点 %1 的清单不是账本所记的那份（SHA-256 不同）：文件被修改，或属于另一个检查点</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 cannot be used: %2</source>
        <translation>检查点 %1 的清单不可用：%2</translation>
    </message>
    <message>
        <source>checkpoint %1 has another %2 in its manifest than in the tracker: one of them was changed by hand</source>
        <translation>检查点 %1 的清单与账本中的 %2 不同：其中之一被手工修改</translation>
    </message>
    <message>
        <source>the weights of checkpoint %1 were removed by the keep policy, and the tracker does not know it: it is older than the checkpoints</source>
        <translation>检查点 %1 的权重已被保留策略删除，而账本中没有记录：账本比检查点旧</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 could not be inspected: %2</source>
        <translation>无法检查检查点 %1 的清单：%2</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 names &apos;%2&apos;, which is not in its folder</source>
        <translation>检查点 %1 的清单列出“%2”，它不在其文件夹中</translation>
    </message>
    <message>
        <source>Reading the weights of checkpoint %1</source>
        <translation>正在读取检查点 %1 的权重</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 could not be inspected: %3</source>
        <translation>无法检查检查点 %2 的 %1：%3</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its SHA-256 differs</source>
        <translation>检查点 %2 的 %1 与写入时不同：SHA-256 不符</translation>
    </message>
    <message>
        <source>checkpoint %1 (step %2) is not in the tracker: the tracker is older than the checkpoints</source>
        <translation>检查点 %1（第 %2 步）不在账本中：账本比检查点旧</translation>
    </message>
    <message>
        <source>The folder %1 has a name that is not UTF-8. Name another folder for the run.</source>
        <translation>文件夹 %1 的名称不是 UTF-8。请为此运行指定另一个文件夹。</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hash of the tokenizer</source>
        <translation>run.json 与账本所存内容的对照，以及分词器的哈希</translation>
    </message>
    <message>
        <source>Reading the tracker</source>
        <translation>正在读取账本</translation>
    </message>
    <message>
        <source>there are chunks of epoch %1, which never began</source>
        <translation>存在第 %1 轮的数据段，而该轮从未开始</translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as given up, but surviving weights were made from it</source>
        <translation>检查点 %1 标记为已放弃，但留存的权重由它得来</translation>
    </message>
    <message>
        <source>checkpoint %1 is marked as surviving, but no newest weights were made from it</source>
        <translation>检查点 %1 标记为留存，但没有最新权重由它得来</translation>
    </message>
    <message>
        <source>checkpoint %1 names checkpoint %2 as its parent, which is not older</source>
        <translation>检查点 %1 的父检查点为 %2，而后者并不更早</translation>
    </message>
    <message>
        <source>the table %1 has %2 rows and ids up to %3: rows were taken out of the history</source>
        <translation>表 %1 有 %2 行，编号却到 %3：历史记录中有行被删除</translation>
    </message>
    <message>
        <source>%1 blocks have chunks and no counters</source>
        <translation>%1 个块有数据段却没有计数</translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints does not belong to this run: a copy, or something foreign. Nothing was done with it; the next resume moves it to checkpoints/unknown.</source>
        <translation>检查点文件夹里的 %1 不属于此运行：是副本或外来之物。未对其作任何处理；下次恢复时会将其移到 checkpoints/unknown。</translation>
    </message>
    <message>
        <source>%1 in the folder of the checkpoints is a link and was not looked into</source>
        <translation>检查点文件夹里的 %1 是链接，没有查看其内容</translation>
    </message>
    <message>
        <source>%1 is a link: what is inspected lies elsewhere, and Furrow writes nothing there. Put the folder itself in its place.</source>
        <translation>%1 是链接：被检查的内容在别处，Furrow 不会写入那里。请把文件夹本身放到这个位置。</translation>
    </message>
    <message>
        <source>%1 is listed in epoch %2</source>
        <translation>%1 被列在第 %2 轮</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no digest: its file cannot be proven</source>
        <translation>块 %1 被标记为已准备，但没有摘要：无法证明其文件</translation>
    </message>
    <message>
        <source>%1 is marked as trained by the parent run, which the list of what the parent trained does not say</source>
        <translation>%1 被标记为父运行已训练，但父运行已训练内容的列表中没有它</translation>
    </message>
    <message>
        <source>%1 names claim %2, which is not one of its claims</source>
        <translation>%1 指向领取 %2，而后者不属于该数据段</translation>
    </message>
    <message>
        <source>%1 says that it was trained %2 times, its claims say %3</source>
        <translation>%1 记录的训练次数为 %2，而按其领取应为 %3</translation>
    </message>
    <message>
        <source>%1: claim %2 says %3 %4, its windows and steps give %5: its row was changed</source>
        <translation>%1：领取 %2 记为 %3 %4，按其窗口和步数应为 %5：该行被改过</translation>
    </message>
    <message>
        <source>%1: claim %2 says that it trained %3 tokens, the whole chunk has %4: its row was changed</source>
        <translation>%1：领取 %2 记录训练了 %3 个词元，整个数据段只有 %4 个：该行被改过</translation>
    </message>
    <message>
        <source>%1: claim %2 trained or left out windows that it did not have, or both: its row was changed</source>
        <translation>%1：领取 %2 训练或略去了不属于它的窗口，或两者兼有：该行被改过</translation>
    </message>
    <message>
        <source>%1: its mean loss is not the loss over the tokens of its newest training: one of the two rows was changed</source>
        <translation>%1：其平均损失不等于最近一次训练的损失除以词元数：两行之一被改过</translation>
    </message>
    <message>
        <source>Reading the plans of the blocks</source>
        <translation>正在读取块的计划</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) counts as visited, but no training of its chunks began</source>
        <translation>块 %1（第 %2 轮）记为已访问，但它的数据段从未开始训练</translation>
    </message>
    <message>
        <source>block %1 (epoch %2) does not count as visited, but training of its chunks began</source>
        <translation>块 %1（第 %2 轮）未记为已访问，但它的数据段已开始训练</translation>
    </message>
    <message>
        <source>block %1 begins at row %2 of its source, the block before it ended at row %3: there is a gap or an overlap</source>
        <translation>块 %1 从其来源的第 %2 行开始，前一块到第 %3 行结束：有缺口或重叠</translation>
    </message>
    <message>
        <source>block %1 has %2 chunks of %3 rows by its own row, and %4 chunks of %5 rows in epoch 1</source>
        <translation>块 %1 按其自身记录有 %2 个数据段共 %3 行，在第 1 轮中有 %4 个数据段共 %5 行</translation>
    </message>
    <message>
        <source>block %1 has a prepared file and is not marked as prepared</source>
        <translation>块 %1 有准备好的文件，却没有标为已准备</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared and has no file</source>
        <translation>块 %1 标为已准备，却没有文件</translation>
    </message>
    <message>
        <source>block %1 is marked as prepared, but chunks of it (epoch %2) wait to be prepared</source>
        <translation>块 %1 标为已准备，但它的数据段（第 %2 轮）在等待准备</translation>
    </message>
    <message>
        <source>block %1 is not marked as prepared, but chunks of it (epoch %2) can be claimed</source>
        <translation>块 %1 未标为已准备，但它的数据段（第 %2 轮）可以领取</translation>
    </message>
    <message>
        <source>block %1: its plan does not begin where the one before it ended, or does not end where the next one begins: it was changed by hand</source>
        <translation>块 %1：其计划不是从前一个结束处开始，或不在下一个开始处结束：被手工改过</translation>
    </message>
    <message>
        <source>block %1: its plan has other rows or chunks than its row in the tracker: one of them was changed by hand</source>
        <translation>块 %1：其计划的行或数据段与账本中的记录不同：其中之一被手工改过</translation>
    </message>
    <message>
        <source>checkpoint %1 is %2 steps further than what it was made from, its parts have %3: the row of a part or of a checkpoint was changed</source>
        <translation>检查点 %1 比它的来源多 %2 步，其部分共 %3 步：某个部分或检查点的行被改过</translation>
    </message>
    <message>
        <source>checkpoint %1 is a merge, and no round of merging had all checkpoints that it was made from</source>
        <translation>检查点 %1 是合并，但没有任何合并轮包含它的全部来源检查点</translation>
    </message>
    <message>
        <source>checkpoint %1 is of another replica than worker process %2, which wrote it</source>
        <translation>检查点 %1 与写入它的工作进程 %2 属于不同的副本</translation>
    </message>
    <message>
        <source>checkpoint %1 names claims %2 to %3 and has parts of claims %4 to %5</source>
        <translation>检查点 %1 列出领取 %2 到 %3，却含有领取 %4 到 %5 的部分</translation>
    </message>
    <message>
        <source>checkpoint %1 was given to round %2 of merging, and the tracker lacks one of them</source>
        <translation>检查点 %1 交给了合并轮 %2，而账本缺少其中之一</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2 and has a part of claim %3, which is of worker process %4</source>
        <translation>检查点 %1 由工作进程 %2 写入，却有领取 %3 的部分，而该领取属于工作进程 %4</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by worker process %2, which the tracker does not have</source>
        <translation>检查点 %1 由工作进程 %2 写入，而账本中没有该进程</translation>
    </message>
    <message>
        <source>checkpoint %1, which the tracker does not have, is said to be made from checkpoint %2</source>
        <translation>账本中没有的检查点 %1 被说成来自检查点 %2</translation>
    </message>
    <message>
        <source>claim %1 has a part in checkpoint %2, which the tracker does not have</source>
        <translation>领取 %1 在检查点 %2 中有部分，而账本中没有该检查点</translation>
    </message>
    <message>
        <source>claim %1 has parts in checkpoints of different worker processes (%2 and %3)</source>
        <translation>领取 %1 在不同工作进程（%2 和 %3）的检查点中有部分</translation>
    </message>
    <message>
        <source>claim %1 is of worker process %2, which the tracker does not have</source>
        <translation>领取 %1 属于工作进程 %2，而账本中没有该进程</translation>
    </message>
    <message>
        <source>claim %1 says that it began with step %2 of worker process %3, which had made %4 before: the row of a claim was changed</source>
        <translation>领取 %1 记录从工作进程 %3 的第 %2 步开始，而该进程此前做了 %4 步：某个领取的行被改过</translation>
    </message>
    <message>
        <source>claim %1 says that it took %2 steps, checkpoint %3 and others have %4 of it: the row of a claim or of a part was changed</source>
        <translation>领取 %1 记录用了 %2 步，而检查点 %3 等含有它的 %4 步：某个领取或部分的行被改过</translation>
    </message>
    <message>
        <source>events are of worker process %1, which the tracker does not have: its row was taken out</source>
        <translation>有工作进程 %1 的事件，而账本中没有该进程：它的行被删掉了</translation>
    </message>
    <message>
        <source>of a claim its place in the schedule of the rate, its highest gradient norm and the samples that stood out</source>
        <translation>领取在学习率计划中的位置、最高梯度范数和离群的样本</translation>
    </message>
    <message>
        <source>of a round of merging whether more replicas contributed than are listed</source>
        <translation>一个合并轮中是否有未列出的副本参与</translation>
    </message>
    <message>
        <source>rebuilt: counters and totals were counted anew</source>
        <translation>已重建：计数和总数重新计算</translation>
    </message>
    <message>
        <source>round %1 of merging gave checkpoint %2, which is not a merge that the tracker has</source>
        <translation>合并轮 %1 得出检查点 %2，而它不是账本中的合并</translation>
    </message>
    <message>
        <source>round %1 of merging has a result and no contributions</source>
        <translation>合并轮 %1 有结果却没有任何贡献</translation>
    </message>
    <message>
        <source>round %1 of merging was done by worker process %2, whose own contribution to it is gone</source>
        <translation>合并轮 %1 由工作进程 %2 完成，而它自己的贡献不见了</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, and the hashes of tokenizer and held-out text</source>
        <translation>run.json 与账本所存的对照，以及分词器和留出文本的哈希</translation>
    </message>
    <message>
        <source>the events open %1 epochs, the tracker has %2</source>
        <translation>事件打开了 %1 轮，账本中有 %2 轮</translation>
    </message>
    <message>
        <source>the events open %1 rounds of merging, the tracker has %2</source>
        <translation>事件打开了 %1 个合并轮，账本中有 %2 轮</translation>
    </message>
    <message>
        <source>the held-out text: this run was made by a version that did not keep its hash</source>
        <translation>留出文本：此运行由不保存其哈希的版本创建</translation>
    </message>
    <message>
        <source>run.json in part or as a whole: this run was made by a version that kept no full record of it</source>
        <translation>run.json 的部分或全部：创建此运行的版本没有保存其完整记录</translation>
    </message>
    <message>
        <source>of run.json the name of the run, its preset, when and by which version it was made, and where its data lie</source>
        <translation>run.json 中的运行名称、预设、创建时间和版本，以及数据所在的位置</translation>
    </message>
    <message>
        <source>of run.json the settings that a resume may change and the list of its files: the tracker has no record of them</source>
        <translation>run.json 中恢复时可以更改的设置及其文件列表：账本没有保存其记录</translation>
    </message>
    <message>
        <source>telemetry and logs</source>
        <translation>遥测数据和日志</translation>
    </message>
    <message>
        <source>the order in which chunks are given out, and who held a chunk last</source>
        <translation>数据段发放的顺序，以及谁最后持有数据段</translation>
    </message>
    <message>
        <source>the plans of all blocks against their rows; SHA-256 of %1 prepared blocks in the cache, and their chunks against the tracker; %2 more are not there and are made again when they are needed</source>
        <translation>所有块的计划与其行对照；缓存中 %1 个已准备块的 SHA-256 及其数据段与账本对照；另有 %2 个不在，需要时重新制作</translation>
    </message>
    <message>
        <source>there are counters of block %1 (epoch %2), which has no chunks</source>
        <translation>有块 %1（第 %2 轮）的计数，而它没有数据段</translation>
    </message>
    <message>
        <source>wall-clock times, and the time that the run was active</source>
        <translation>按系统时钟记录的时间，以及运行处于活动状态的时长</translation>
    </message>
    <message>
        <source>who wrote %1 checkpoints and their loss on held-out text: their manifests are of a version that did not keep it</source>
        <translation>%1 个检查点由谁写入及其在留出文本上的损失：它们的清单来自不保存这些的版本</translation>
    </message>
    <message>
        <source>worker process %1 contributed to round %2 of merging, and the tracker lacks the process, the round or the checkpoint</source>
        <translation>工作进程 %1 参与了合并轮 %2，而账本缺少该进程、该轮或该检查点</translation>
    </message>
    <message>
        <source>worker process %1 is of attempt %2, which the tracker does not have</source>
        <translation>工作进程 %1 属于尝试 %2，而账本中没有该尝试</translation>
    </message>
    <message>
        <source>worker process %1 trained replica %2, which the tracker does not have</source>
        <translation>工作进程 %1 训练了副本 %2，而账本中没有该副本</translation>
    </message>
    <message>
        <source>checkpoint %1 has a part of claim %2, which did not train that chunk</source>
        <translation>检查点 %1 含有领取 %2 的部分，而该领取没有训练那个数据段</translation>
    </message>
    <message>
        <source>%1: checkpoint %2 has windows %3 to %4 of claim %5, which that claim did not train</source>
        <translation>%1：检查点 %2 含有领取 %5 的窗口 %3 至 %4，而该领取没有训练它们</translation>
    </message>
    <message>
        <source>epoch %1 counts %2 chunks as %3, it has %4</source>
        <translation>第 %1 轮记有 %2 个数据段为 %3，实际为 %4</translation>
    </message>
    <message>
        <source>problems found, see below</source>
        <translation>有问题，见下文</translation>
    </message>
    <message>
        <source>nothing is wrong in what could be read, but not everything could be inspected, see below</source>
        <translation>能读取的部分没有问题，但并非全部都能检查，见下文</translation>
    </message>
    <message>
        <source>every chunk is where it should be, once, and the files are as recorded</source>
        <translation>每个数据段都在应在之处，恰好一次，文件也与所记一致</translation>
    </message>
    <message>
        <source>every chunk is where it should be, once; weights not inspected</source>
        <translation>每个数据段都在应在之处，恰好一次；未检查权重</translation>
    </message>
    <message>
        <source>the tracker %1 is damaged (it has %2 %3, which no run can have); `furrowctl doctor %4 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本 %1 已损坏（含有运行不可能有的 %2 %3）；`furrowctl doctor %4 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the run begins when it lets go. Let it go on or end it.</source>
        <translation>%1已锁定账本；它释放后运行才会开始。让它继续或结束它。</translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.</source>
        <translation>已有 %1 无法写入账本：它被%2锁定。一旦释放，运行就会继续；让它继续或结束它。</translation>
    </message>
    <message>
        <source>it stood still inside a write to the tracker, for which everybody waits</source>
        <translation>它在写入账本时停住不动，使所有进程等待</translation>
    </message>
    <message>
        <source>it held the lock of the tracker and made no progress within its lease</source>
        <translation>它持有账本的锁，且在租期内没有进展</translation>
    </message>
    <message>
        <source>the tracker is locked, and it made no progress within its lease</source>
        <translation>账本被锁定，且它在租期内没有进展</translation>
    </message>
    <message>
        <source>it stood still while others waited for it</source>
        <translation>它停住不动，而其他进程正在等它</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what was written: its size differs</source>
        <translation>检查点 %2 的 %1 与写入时不符：大小不同</translation>
    </message>
    <message>
        <source>replica %1 stands on checkpoint %2, which the tracker does not have</source>
        <translation>副本 %1 基于检查点 %2，而账本中没有它</translation>
    </message>
    <message>
        <source>the tracker says that the data has %1 blocks, and it has rows of %2</source>
        <translation>账本称数据有 %1 个块，但只有 %2 个块的记录</translation>
    </message>
    <message>
        <source>the tracker %1 has a view, a trigger or a virtual table, which Furrow makes none of: it was changed from outside; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>账本 %1 含有 Furrow 从不创建的视图、触发器或虚拟表：它被外部修改过；`furrowctl doctor %2 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>The folder of checkpoint %1 has files that Furrow did not write; they were kept.</source>
        <translation>检查点 %1 的文件夹中有并非 Furrow 写入的文件；已保留。</translation>
    </message>
    <message>
        <source>%1 has been locked for too long by %2; let it go on or end it, then try again</source>
        <translation>%1 被%2锁定太久；让它继续或结束它，然后重试</translation>
    </message>
    <message>
        <source>%1 has tracker version %2, which an older Furrow writes; this one writes version %3. While an older Furrow trains the run, use that one; when it has stopped, `furrowctl resume` of this one brings the tracker forward</source>
        <translation>%1 的账本版本为 %2，由较旧的 Furrow 写入；本版本写入版本 %3。较旧的 Furrow 训练该运行期间，请使用那个版本；停止之后，本版本的 `furrowctl resume` 会升级账本</translation>
    </message>
    <message>
        <source>a process that cannot be seen from here</source>
        <translation>从这里看不到的进程</translation>
    </message>
    <message>
        <source>process %1</source>
        <translation>进程 %1</translation>
    </message>
    <message>
        <source>process %1 (%2)</source>
        <translation>进程 %1（%2）</translation>
    </message>
    <message>
        <source>The file %1 has grown to %2, because %3 reads an older state of the tracker and does not end. Let it go on or end it; nothing is lost, and the file shrinks then.</source>
        <translation>文件 %1 已增长到 %2，因为%3正在读取账本的旧状态且一直没有结束。让它继续或结束它；不会丢失任何内容，之后该文件会缩小。</translation>
    </message>
    <message>
        <source>somebody</source>
        <translation>某个进程</translation>
    </message>
    <message>
        <source>The learning rate goes on as planned: %1 now, %2 at the end.</source>
        <translation>学习率按计划继续：现在 %1，结束时 %2。</translation>
    </message>
    <message>
        <source>The learning rate was %1, goes on at %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation>学习率原为 %1，以 %2 继续，最高 %3，结束时 %4（学习率方案 %5）。</translation>
    </message>
    <message>
        <source>most of the text is not in the weights: %1 of %2 windows were left out, because their steps were not finite. Look at the text and the learning rate before you use them.</source>
        <translation>大部分文本不在权重中：%2 个窗口中有 %1 个被略去，因为它们的训练步不是有限值。使用这些权重之前，请检查文本和学习率。</translation>
    </message>
    <message>
        <source>%1 of %2 windows were left out, because their steps were not finite</source>
        <translation>%2 个窗口中有 %1 个被略去，因为它们的训练步不是有限值</translation>
    </message>
    <message>
        <source>windows %1 are left out: they were not finite before and after a roll-back</source>
        <translation>略去窗口 %1：回退前后它们都不是有限值</translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite, again in %2: going back to the last checkpoint, and its windows %3 are left out.</source>
        <translation>连续 %1 步不是有限值，又是在%2：回到最近的检查点，并略去其窗口 %3。</translation>
    </message>
    <message>
        <source>%1 steps in a row were not finite in %2 from windows %3 on: going back to the last checkpoint, with the learning rate at %4 % of the schedule.</source>
        <translation>连续 %1 步不是有限值，在%2，从窗口 %3 开始：回到最近的检查点，学习率降为计划的 %4 %。</translation>
    </message>
    <message>
        <source>training has diverged: the mean loss of %1 steps is %2, the best so far was %3. Stop it and go back to a checkpoint before that (resume --from-checkpoint) with a lower rate.</source>
        <translation>训练已发散：%1 步的平均损失为 %2，此前最好为 %3。请停止训练，以更低的学习率回到此前的检查点（resume --from-checkpoint）。</translation>
    </message>
    <message>
        <source>the plain average</source>
        <translation>简单平均</translation>
    </message>
    <message>
        <source>the outer step</source>
        <translation>外层步</translation>
    </message>
    <message>
        <source>replica %1 alone</source>
        <translation>仅副本 %1</translation>
    </message>
    <message>
        <source>last round: the plain average is kept, there is no text to evaluate the outer step on</source>
        <translation>最后一轮：保留简单平均，没有可用于评估外层步的文本</translation>
    </message>
    <message>
        <source>last round: %1 is kept (%2)</source>
        <translation>最后一轮：保留%1（%2）</translation>
    </message>
    <message>
        <source>%1; a replica that evaluates better alone lacks what the others trained</source>
        <translation>%1；某个副本单独评估更好，但不含其他副本训练的内容</translation>
    </message>
    <message>
        <source>%1 of epoch %2</source>
        <translation>第 %2 轮的 %1 个</translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains none again.</source>
        <translation>保留 %1 个数据段，没有数据段要重新训练。</translation>
    </message>
    <message>
        <source>It keeps %1 chunks and trains %2 again: %3.</source>
        <translation>保留 %1 个数据段，重新训练 %2 个：%3。</translation>
    </message>
    <message>
        <source>%1 workers are still alive. What they save before they end is kept too.</source>
        <translation>还有 %1 个工作进程存活。它们结束前保存的内容也会保留。</translation>
    </message>
    <message>
        <source>epoch %1: %2</source>
        <translation>第 %1 轮：%2</translation>
    </message>
    <message>
        <source>name has %1 characters, allowed are %2. Choose a shorter one.</source>
        <translation>name 有 %1 个字符，最多允许 %2 个。请选一个更短的。</translation>
    </message>
    <message>
        <source>This program was built with SQLite %1, which can damage a tracker that several processes use (WAL-reset bug of 3.7.0 to 3.51.2): no tracker is written. Run packaging/native.sh and build it again.</source>
        <translation>本程序是用 SQLite %1 构建的，多个进程使用账本时它可能损坏账本（3.7.0 到 3.51.2 的 WAL-reset 缺陷）：因此不写入任何账本。请运行 packaging/native.sh 后重新构建。</translation>
    </message>
    <message>
        <source>The list of duplicates of this run, %1, is not there or is damaged, and without it no block can be prepared. Resume the run: it makes the list again.</source>
        <translation>此运行的重复文本列表 %1 不存在或已损坏，没有它就无法准备任何块。请恢复运行：列表会重新生成。</translation>
    </message>
    <message>
        <source>The list of duplicates %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation>重复文本列表 %1 的版本为 %2；此 Furrow 最多能读取版本 %3。请使用更新的版本。</translation>
    </message>
    <message>
        <source>Looking for duplicates was cancelled.</source>
        <translation>查找重复文本已取消。</translation>
    </message>
    <message>
        <source>looking for duplicates: %1 of about %2</source>
        <translation>正在查找重复文本：%1，共约 %2</translation>
    </message>
    <message>
        <source>looking for duplicates: %1</source>
        <translation>正在查找重复文本：%1</translation>
    </message>
    <message>
        <source>The tracker of %1 is damaged: %2. Nothing was changed. &apos;furrowctl audit %3&apos; says all that is wrong, &apos;furrowctl doctor %4 --repair&apos; rebuilds what the checkpoints prove.</source>
        <translation>%1 的账本已损坏：%2。未作任何更改。“furrowctl audit %3”会列出所有问题，“furrowctl doctor %4 --repair”可按检查点所证明的内容重建。</translation>
    </message>
    <message>
        <source>%1 is &apos;%2&apos;, allowed is BLOCK:CHUNK, both from 0, such as 3:17.</source>
        <translation>%1 为“%2”，允许的写法是 块:数据段，两者都从 0 起，例如 3:17。</translation>
    </message>
    <message>
        <source>%1 has a name that leads out of the archive and was left out.</source>
        <translation>%1 的名称指向归档之外，已略过。</translation>
    </message>
    <message>
        <source>%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.</source>
        <translation>%1 的名称不是数据文件（.txt .csv .tsv .jsonl .json .parquet .arrow .warc），已略过。</translation>
    </message>
    <message>
        <source>%1 stands in its archive twice, and which one counts is not said. Pack it again.</source>
        <translation>%1 在归档中出现两次，无法判断以哪个为准。请重新打包。</translation>
    </message>
    <message>
        <source>%1: %2 more files in it were left out.</source>
        <translation>%1：其中另有 %2 个文件被略过。</translation>
    </message>
    <message>
        <source>%1 is Parquet that is compressed once more, so it cannot be read at any place. Unpack it from the archive.</source>
        <translation>%1 是又被压缩了一层的 Parquet，无法随机读取。请先从归档中解出。</translation>
    </message>
    <message>
        <source>%1 is a link and was left out.</source>
        <translation>%1 是链接，已略过。</translation>
    </message>
    <message>
        <source>%1 is encrypted. Unpack the archive and name the folder.</source>
        <translation>%1 已加密。请解开归档并指定其文件夹。</translation>
    </message>
    <message>
        <source>%1 is packed by method %2 of zip, which Furrow does not know. Unpack the archive and name the folder.</source>
        <translation>%1 使用了 Furrow 不支持的 zip 方法 %2。请解开归档并指定其文件夹。</translation>
    </message>
    <message>
        <source>%1 is stored with holes (sparse) and was left out.</source>
        <translation>%1 以稀疏方式存储，已略过。</translation>
    </message>
    <message>
        <source>%1 ends at byte %2, in the middle of an archive. It is cut off: fetch or write it again.</source>
        <translation>%1 在第 %2 字节处结束，归档不完整。文件被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1: the archive ends %2 bytes before the end of this file. It is cut off: fetch or write it again.</source>
        <translation>%1：归档在此文件结束前 %2 字节处就结束了。归档被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has another size than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation>%1 的大小与归档所记不符。归档已损坏：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has another checksum than its archive says. The archive is damaged: fetch or write it again.</source>
        <translation>%1 的校验和与归档所记不符。归档已损坏：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its Arrow data, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 在 Arrow 数据中途结束（%2 字节之后）。文件被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data before byte %2 (%3). Fetch or write it again.</source>
        <translation>%1 在第 %2 字节之前的 Arrow 数据已损坏（%3）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has a batch of %2 that would have to be in memory at once; %3 is the most. Write it again in smaller batches.</source>
        <translation>%1 中有一个 %2 的批次需要一次装入内存；上限为 %3。请用更小的批次重新写入。</translation>
    </message>
    <message>
        <source>%1 has a batch that needs more than %2 of memory. Write it again in smaller batches.</source>
        <translation>%1 中有一个批次需要超过 %2 的内存。请用更小的批次重新写入。</translation>
    </message>
    <message>
        <source>%1 cannot be read as Arrow (%2). Fetch or write it again.</source>
        <translation>无法将 %1 作为 Arrow 读取（%2）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has damaged Arrow data in batch %2 (a text that lies outside of it). Fetch or write it again.</source>
        <translation>%1 的第 %2 个批次的 Arrow 数据已损坏（有文本位于批次之外）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 is an Arrow file, and this Furrow was built without Arrow. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.</source>
        <translation>%1 是 Arrow 文件，而此 Furrow 构建时未包含 Arrow。请转换为 jsonl，或以 FURROW_WITH_PARQUET=ON 构建。</translation>
    </message>
    <message>
        <source>Another process wrote to %1 in the cache, or removed it.</source>
        <translation>另一个进程写入了缓存中的 %1，或将其删除。</translation>
    </message>
    <message>
        <source>%1 cannot be written to. Check whether its disk is full or the file belongs to somebody else.</source>
        <translation>无法写入 %1。请查看其磁盘是否已满，或文件是否属于他人。</translation>
    </message>
    <message>
        <source>%1 is one JSON document. Name the list of its rows and their text with text_column, such as data[].text, or write one object per line (jsonl).</source>
        <translation>%1 是单个 JSON 文档。请用 text_column 指出其中的行列表及文本，例如 data[].text，或每行写一个对象（jsonl）。</translation>
    </message>
    <message>
        <source>%1 is Feather of version 1, which Furrow cannot read. Write it again with version 2, or as Parquet.</source>
        <translation>%1 是 Feather 第 1 版，Furrow 无法读取。请用第 2 版或 Parquet 重新写入。</translation>
    </message>
    <message>
        <source>%1 is WARC: its plain texts are read (conversions, resources, and responses with status 200); HTML and all else is left out.</source>
        <translation>%1 是 WARC：读取其中的纯文本（conversion、resource 记录以及状态为 200 的 response）；HTML 及其他内容略过。</translation>
    </message>
    <message>
        <source>%1 is a WebDataset: its files of one name are one row, and their endings are its columns.</source>
        <translation>%1 是 WebDataset：同名的文件为一行，其扩展名为列。</translation>
    </message>
    <message>
        <source>%1 needs more than %2 of memory to be expanded. Pack it again with a smaller window or dictionary.</source>
        <translation>解压 %1 需要超过 %2 的内存。请用较小的窗口或字典重新压缩。</translation>
    </message>
    <message>
        <source>Reading %1 was cancelled.</source>
        <translation>已取消读取 %1。</translation>
    </message>
    <message>
        <source>%1: a part that was fetched just now is gone.</source>
        <translation>%1：刚刚下载的一部分不见了。</translation>
    </message>
    <message>
        <source>%1 is not a JSON list.</source>
        <translation>%1 不是 JSON 列表。</translation>
    </message>
    <message>
        <source>%1: the member &apos;%2&apos; is not a list.</source>
        <translation>%1：成员“%2”不是列表。</translation>
    </message>
    <message>
        <source>%1 has no member &apos;%2&apos; with the list of rows that text_column names.</source>
        <translation>%1 中没有 text_column 所指的行列表成员“%2”。</translation>
    </message>
    <message>
        <source>%1 ends in the middle of its JSON, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 在 JSON 中途结束（%2 字节之后）。文件被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 is broken JSON before byte %2. Write it again.</source>
        <translation>%1 在第 %2 字节之前的 JSON 有误。请重新写入。</translation>
    </message>
    <message>
        <source>%1 ends in the middle of what begins at byte %2. It is cut off: fetch or write it again.</source>
        <translation>%1 在从第 %2 字节开始的内容中途结束。文件被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has no row that can be read at byte %2, and no end of its rows. Fetch or write it again.</source>
        <translation>%1 在第 %2 字节处既没有可读的行，也没有行的结尾。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has the member &apos;%2&apos; with its rows a second time, after the first. Which one counts is not said: Furrow has read the first, Python and others take the last. Rename or remove one of them.</source>
        <translation>%1 在第一个之后再次出现含有行的成员“%2”。无法得知以哪个为准：Furrow 读取了第一个，Python 等则取最后一个。请改名或删除其中一个。</translation>
    </message>
    <message>
        <source>%1 is damaged before byte %2 (%3). Fetch or write it again.</source>
        <translation>%1 在第 %2 字节之前已损坏（%3）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has a damaged zip directory (%2). Fetch or write it again.</source>
        <translation>%1 的 zip 目录已损坏（%2）。请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 has no zip directory at its end, after %2 bytes. It is cut off: fetch or write it again.</source>
        <translation>%1 的末尾（%2 字节之后）没有 zip 目录。文件被截断：请重新获取或写入。</translation>
    </message>
    <message>
        <source>%1 is one part of a zip archive in several. Join them first.</source>
        <translation>%1 是分卷 zip 归档中的一卷。请先合并各卷。</translation>
    </message>
    <message>
        <source>%1 has a directory of more than 64 MiB. Unpack it and name the folder.</source>
        <translation>%1 的目录超过 64 MiB。请解开它并指定其文件夹。</translation>
    </message>
    <message>
        <source>%1 Begin a new run with another one.</source>
        <translation>%1 请换一个，重新开始一次运行。</translation>
    </message>
    <message>
        <source>feeder: %1</source>
        <translation>供数进程：%1</translation>
    </message>
    <message>
        <source>%1 is %2, but the data has the blocks 0 to %3.</source>
        <translation>%1 为 %2，但数据只有块 0 到 %3。</translation>
    </message>
    <message>
        <source>%1 is %2, but block %3 has the chunks 0 to %4.</source>
        <translation>%1 为 %2，但块 %3 只有数据段 0 到 %4。</translation>
    </message>
    <message>
        <source>weights of %1 checkpoints that the run itself removed, or left, while they were inspected</source>
        <translation>运行自身在检查期间删除或放弃的 %1 个检查点的权重</translation>
    </message>
    <message>
        <source>the tracker was older than the checkpoints and %1</source>
        <translation>账本曾比检查点旧，%1</translation>
    </message>
    <message>
        <source>taken forward: %1 checkpoints with %2 parts were added from their files</source>
        <translation>已补到最新：从文件中补入 %1 个检查点，共 %2 个部分</translation>
    </message>
    <message>
        <source>The limit of %1 optimiser steps is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>已达到 %1 个优化步的上限：已完成 %2 步。这次尝试会立即结束；请提高上限，或写 0 表示不限。</translation>
    </message>
    <message>
        <source>The limit of %1 tokens is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>已达到 %1 个词元的上限：已完成 %2 个。这次尝试会立即结束；请提高上限，或写 0 表示不限。</translation>
    </message>
    <message>
        <source>The limit of %1 hours is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.</source>
        <translation>已达到 %1 小时的上限：已用 %2 小时。这次尝试会立即结束；请提高上限，或写 0 表示不限。</translation>
    </message>
    <message>
        <source>1 chunk whose work was lost: it is trained again</source>
        <translation>1 个数据段的训练成果已丢失：将重新训练</translation>
    </message>
    <message>
        <source>%1 chunks whose work was lost: they are trained again</source>
        <translation>%1 个数据段的训练成果已丢失：将重新训练</translation>
    </message>
    <message>
        <source>1 chunk claimed by a worker that is gone</source>
        <translation>1 个数据段由已退出的工作进程占有</translation>
    </message>
    <message>
        <source>%1 chunks claimed by workers that are gone</source>
        <translation>%1 个数据段由已退出的工作进程占有</translation>
    </message>
    <message>
        <source>it is nested deeper than %1 levels</source>
        <translation>嵌套超过 %1 层</translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation>它是空的</translation>
    </message>
    <message>
        <source>it is not JSON at byte %1</source>
        <translation>在第 %1 字节处不是 JSON</translation>
    </message>
    <message>
        <source>it has a number that is too large to be read</source>
        <translation>其中有一个数大得无法读取</translation>
    </message>
    <message>
        <source>is not a list</source>
        <translation>不是列表</translation>
    </message>
    <message>
        <source>is not a whole number</source>
        <translation>不是整数</translation>
    </message>
    <message>
        <source>is %1, which it cannot be</source>
        <translation>是 %1，这不可能</translation>
    </message>
    <message>
        <source>is not a JSON object</source>
        <translation>不是 JSON 对象</translation>
    </message>
    <message>
        <source>is neither true nor false</source>
        <translation>既不是 true 也不是 false</translation>
    </message>
    <message>
        <source>is not a text</source>
        <translation>不是文本</translation>
    </message>
    <message>
        <source>is not a number</source>
        <translation>不是数字</translation>
    </message>
    <message>
        <source>it has no key &apos;%1&apos;</source>
        <translation>它没有键“%1”</translation>
    </message>
    <message>
        <source>it is not a JSON object</source>
        <translation>它不是 JSON 对象</translation>
    </message>
    <message>
        <source>its key &apos;%1&apos; %2</source>
        <translation>它的键“%1”%2</translation>
    </message>
    <message>
        <source>A block plan of this run cannot be read: %1. Restore tracker.sqlite from a copy of the run.</source>
        <translation>无法读取此运行的一个块计划：%1。请从运行的副本中恢复 tracker.sqlite。</translation>
    </message>
    <message>
        <source>A block plan of this run does not add up. Restore tracker.sqlite from a copy of the run.</source>
        <translation>此运行的一个块计划前后不符。请从运行的副本中恢复 tracker.sqlite。</translation>
    </message>
    <message>
        <source>is not the name of a character</source>
        <translation>不是字符的名称</translation>
    </message>
    <message>
        <source>is a compression that this Furrow does not know</source>
        <translation>是此 Furrow 不认识的压缩方式</translation>
    </message>
    <message>
        <source>is a format that this Furrow does not know</source>
        <translation>是此 Furrow 不认识的格式</translation>
    </message>
    <message>
        <source>The data manifest in run.json cannot be read: %1. Restore run.json from a copy of the run.</source>
        <translation>无法读取 run.json 中的数据清单：%1。请从运行的副本中恢复 run.json。</translation>
    </message>
    <message>
        <source>%1 cannot be used: %2. Restore it from a copy of the run.</source>
        <translation>无法使用 %1：%2。请从运行的副本中恢复它。</translation>
    </message>
    <message>
        <source>is of a block that no run can have</source>
        <translation>属于任何运行都不可能有的块</translation>
    </message>
    <message>
        <source>is not a chunk that a run can have</source>
        <translation>不是运行可能有的数据段</translation>
    </message>
    <message>
        <source>names a path outside the folder</source>
        <translation>指向文件夹之外的路径</translation>
    </message>
    <message>
        <source>manifest.json cannot be used: %1.</source>
        <translation>无法使用 manifest.json：%1。</translation>
    </message>
    <message>
        <source>its state.json says %1 %2 and its manifest.json %3.</source>
        <translation>其 state.json 中 %1 为 %2，而 manifest.json 中为 %3。</translation>
    </message>
    <message>
        <source>its state.json names other parents than its manifest.json.</source>
        <translation>其 state.json 所列的父检查点与 manifest.json 不同。</translation>
    </message>
    <message>
        <source>its state.json counts more steps or tokens since its base than in all.</source>
        <translation>其 state.json 中自起点以来的步数或词元数多于总数。</translation>
    </message>
    <message>
        <source>its state.json counts more steps, tokens or samples of its own than in all.</source>
        <translation>其 state.json 中自身的步数、词元数或样本数多于总数。</translation>
    </message>
    <message>
        <source>state.json cannot be used: %1.</source>
        <translation>无法使用 state.json：%1。</translation>
    </message>
    <message>
        <source>checkpoint %1 is damaged: state.json cannot be used: %2.</source>
        <translation>检查点 %1 已损坏：无法使用 state.json：%2。</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: tensor &apos;%2&apos; of its weights holds NaN or Inf, though the hashes of its files fit.</source>
        <translation>无法使用检查点 %1：其权重中的张量“%2”含有 NaN 或 Inf，尽管其文件的哈希值相符。</translation>
    </message>
    <message>
        <source>block %1: %2 It was put aside and is prepared again from the source when it is needed.</source>
        <translation>块 %1：%2 已将其移开，需要时会从来源重新准备。</translation>
    </message>
    <message>
        <source>checkpoint %1 was removed by the keep policy and its folder is there; the next resume takes it back</source>
        <translation>检查点 %1 已被保留策略移除，但其文件夹仍在；下次恢复时会收回</translation>
    </message>
    <message>
        <source>%1 of checkpoint %2 is not what Furrow wrote, so the folder was not deleted.</source>
        <translation>检查点 %2 的 %1 不是 Furrow 写入的内容，因此没有删除该文件夹。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was removed, and its folder is there again; it was left as it is: %2</source>
        <translation>检查点 %1 已被移除，但其文件夹又出现了；未作任何更改：%2</translation>
    </message>
    <message>
        <source>Checkpoint %1 had been removed and is there again: it is the run&apos;s again, and pinned.</source>
        <translation>检查点 %1 曾被移除，现在又在了：它重新归于该运行，并已固定。</translation>
    </message>
    <message>
        <source>an older merge</source>
        <translation>较早的合并</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>副本 %1</translation>
    </message>
    <message>
        <source>all replicas, merged</source>
        <translation>所有副本，已合并</translation>
    </message>
    <message>
        <source>a merge with %1 of %2 tokens; others trained what is not in it</source>
        <translation>一次合并，含 %2 个词元中的 %1 个；其他副本训练的内容不在其中</translation>
    </message>
    <message>
        <source>replica %1&apos;s own weights: %2 of %3 tokens; not merged with the others</source>
        <translation>副本 %1 自己的权重：%3 个词元中的 %2 个；未与其他副本合并</translation>
    </message>
    <message>
        <source>checkpoint %1 is the newest of replica %2 and is marked as removed, which the keep policy never does</source>
        <translation>检查点 %1 是副本 %2 的最新检查点，却被标记为已移除，保留策略从不这样做</translation>
    </message>
    <message>
        <source>replica %1 should stand on checkpoint %2 or a newer one, and stands on an older one: its row was changed from outside</source>
        <translation>副本 %1 应处于检查点 %2 或更新的检查点，却处于更旧的检查点：其记录被从外部更改</translation>
    </message>
    <message>
        <source>the end of the epoch was reached</source>
        <translation>已到达本轮结尾</translation>
    </message>
    <message>
        <source>the requested number of blocks is complete</source>
        <translation>已完成所需的块数</translation>
    </message>
    <message>
        <source>the requested number of steps was reached</source>
        <translation>已达到所需步数</translation>
    </message>
    <message>
        <source>the requested number of tokens was reached</source>
        <translation>已达到所需词元数</translation>
    </message>
    <message>
        <source>the requested hours are over</source>
        <translation>已满所需小时数</translation>
    </message>
    <message>
        <source>all requested epochs are trained</source>
        <translation>所需轮次已全部训练</translation>
    </message>
    <message>
        <source>a person stopped it</source>
        <translation>由人停止</translation>
    </message>
    <message>
        <source>an error stopped it</source>
        <translation>因错误停止</translation>
    </message>
    <message>
        <source>it was interrupted</source>
        <translation>已被中断</translation>
    </message>
    <message>
        <source>the rest of the data cannot be trained as it is</source>
        <translation>其余数据无法按现状训练</translation>
    </message>
    <message>
        <source>Reading the frozen weights</source>
        <translation>正在读取冻结的权重</translation>
    </message>
    <message>
        <source>is not a SHA-256</source>
        <translation>不是 SHA-256</translation>
    </message>
    <message>
        <source>checkpoint %1 was written by a newer Furrow; this one reads formats 1 and 2.</source>
        <translation>检查点 %1 由更新版本的 Furrow 写入；本版本读取格式 1 和 2。</translation>
    </message>
    <message>
        <source>checkpoint %1 holds the pairs of LoRA alone; the weights beside them are missing: %2 is not there. It was in checkpoints/frozen of run %3. Copy it there, or into the folder of the checkpoint.</source>
        <translation>检查点 %1 只含 LoRA 的成对矩阵，缺少与之配套的权重：%2 不存在。它原在运行 %3 的 checkpoints/frozen 中。请将其复制到该处，或复制到检查点的文件夹中。</translation>
    </message>
    <message>
        <source>%1 holds the secret of the environment variable %2, which would be kept in the run and shown everywhere. Take it out: what needs the secret reads it from the environment.</source>
        <translation>%1 包含环境变量 %2 中的机密，它会保存在运行中并到处显示。请将其去掉：需要该机密的程序会从环境中读取。</translation>
    </message>
    <message>
        <source>The folder of the run holds the secret of the environment variable %1, which would be shown everywhere. Name another folder.</source>
        <translation>运行文件夹的名称包含环境变量 %1 中的机密，它会到处显示。请指定另一个文件夹。</translation>
    </message>
    <message>
        <source>the chunks of block %1 that the parent run trained are written as nobody writes them: their row was changed</source>
        <translation>块 %1 中父运行已训练数据段的写法不是任何程序会写出的形式：其行被改过</translation>
    </message>
    <message>
        <source>%1: the windows that claim %2 had, trained or left out are written as nobody writes them: its row was changed</source>
        <translation>%1：领取 %2 所拥有、训练或略去的窗口的写法不是任何程序会写出的形式：其行被改过</translation>
    </message>
    <message>
        <source>a person killed it</source>
        <translation>有人强制结束了它</translation>
    </message>
    <message>
        <source>The learning rate jumps at once from %1 to %2, is %3 at most and %4 at the end (rate plan %5).</source>
        <translation>学习率立即从 %1 跳到 %2，最高 %3，结束时 %4（学习率方案 %5）。</translation>
    </message>
    <message>
        <source>the merge, as worker %1 evaluated it</source>
        <translation>合并后的权重，由工作进程 %1 评估</translation>
    </message>
    <message>
        <source>worker %1, while it trained</source>
        <translation>工作进程 %1，训练途中</translation>
    </message>
    <message>
        <source>cannot write in %1</source>
        <translation>无法写入 %1</translation>
    </message>
    <message>
        <source>%1 has a second name elsewhere (a hard link, as &apos;cp -al&apos; makes), and what Furrow writes would change the file of that name too. Nothing was changed. Make a copy of the run folder by &apos;cp -a --reflink=auto&apos;, and go on with the copy.</source>
        <translation>%1 在别处还有第二个名称（硬链接，例如由“cp -al”产生），Furrow 写入的内容也会改变那个名称的文件。没有更改任何内容。请用“cp -a --reflink=auto”复制运行文件夹，然后用副本继续。</translation>
    </message>
    <message>
        <source>cannot open %1: %2. Remove it, or ask who made it to.</source>
        <translation>无法打开 %1：%2。请将其删除，或请创建者删除。</translation>
    </message>
    <message>
        <source>another process</source>
        <translation>另一个进程</translation>
    </message>
    <message>
        <source>waits for the lock of the cache, %1, held by %2</source>
        <translation>正在等待缓存的锁 %1，它由 %2 持有</translation>
    </message>
    <message>
        <source>Waiting for the lock of the cache, %1, was cancelled.</source>
        <translation>已取消等待缓存的锁 %1。</translation>
    </message>
    <message>
        <source>The cache cannot be used: its lock, %1, is held by %2. Let it go on or end it, then try again.</source>
        <translation>无法使用缓存：它的锁 %1 由 %2 持有。请让其继续或结束它，然后重试。</translation>
    </message>
    <message>
        <source>%1 has carriage returns without a line feed outside of quotes, at which some programs end a record and others do not. Convert them to line feeds (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE), or put quotes around the fields that hold them.</source>
        <translation>%1 在引号之外含有不带换行符的回车符，有些程序在此结束一条记录，有些则不然。请把它们转换为换行符（tr &apos;\r&apos; &apos;\n&apos; &lt; 文件），或给含有它们的字段加上引号。</translation>
    </message>
    <message>
        <source>%1 is not running: %2 holds %3 and is not a supervisor of the run. End it, or wait until it lets go.</source>
        <translation>%1 未在运行：%2 占用着 %3，而它不是此运行的监督进程。请结束它，或等它释放。</translation>
    </message>
    <message>
        <source>%1 The run is still being trained; &apos;furrowctl kill %2&apos; ends it without its tracker.</source>
        <translation>%1 此运行仍在训练；“furrowctl kill %2”无需账本即可结束它。</translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one in which this run was being trained, so the attempt ends; nothing more is written or deleted in it. Put the folder of the run back in its place and resume.</source>
        <translation>%1 处已不是此运行训练时所在的文件夹，因此本次尝试结束；不会再在其中写入或删除任何内容。请把运行的文件夹放回原处再恢复运行。</translation>
    </message>
    <message>
        <source>Another folder lies at %1 than the one that this attempt began with, so the attempt ends; nothing more is written or deleted in it. Put the right folder back in its place and resume.</source>
        <translation>%1 处已不是本次尝试开始时的文件夹，因此本次尝试结束；不会再在其中写入或删除任何内容。请把正确的文件夹放回原处再恢复运行。</translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. Put the tracker of the run back and resume; or &apos;furrowctl doctor %2 --repair&apos; makes it anew from what the checkpoints prove.</source>
        <translation>训练期间 %1 被删除或替换，因此本次尝试结束。请把此运行的账本放回原处再恢复运行；或者用“furrowctl doctor %2 --repair”根据检查点能证明的内容重建它。</translation>
    </message>
    <message>
        <source>%1 was deleted or replaced while the run was being trained, so the attempt ends. It is a part of the tracker. What it held was moved into the tracker first; &apos;furrowctl resume %2&apos; goes on.</source>
        <translation>训练期间 %1 被删除或替换，因此本次尝试结束。它是账本的一部分。其中的内容已先移入账本；用“furrowctl resume %2”可恢复运行。</translation>
    </message>
    <message>
        <source>%1 could not be brought up to date: another process reads it.</source>
        <translation>无法更新 %1：另一个进程正在读取它。</translation>
    </message>
    <message>
        <source>%1 is not of this tracker. Nothing of it was deleted, it was moved to %2.</source>
        <translation>%1 不属于此账本。没有删除其中任何内容，它已移到 %2。</translation>
    </message>
    <message>
        <source>what was asked of the run, the plan of its learning rate, and how attempts and worker processes ended</source>
        <translation>对运行提出的要求、其学习率计划，以及各次尝试和工作进程如何结束</translation>
    </message>
    <message>
        <source>The shipped file %1 is missing. Install or build Furrow again.</source>
        <translation>缺少随附文件 %1。请重新安装或构建 Furrow。</translation>
    </message>
    <message>
        <source>The folder %1 is not there: it was moved or deleted, or its disk is not mounted.</source>
        <translation>文件夹 %1 不存在：它被移动或删除了，或其磁盘未挂载。</translation>
    </message>
    <message>
        <source>Attempt %1 ended at %2, for this reason: %3</source>
        <translation>第 %1 次尝试于 %2 结束，原因如下：%3</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens of held-out text; %3</source>
        <translation>基于 %1 步的权重，在留出文本的 %2 个词元上评估；%3</translation>
    </message>
    <message>
        <source>of weights with %1 steps; %2</source>
        <translation>基于 %1 步的权重；%2</translation>
    </message>
    <message>
        <source>Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).</source>
        <translation>此处无法训练：缺少 %1。请完整安装 Furrow，或用 libtorch 构建（packaging/run.sh）。</translation>
    </message>
    <message>
        <source>stopping rules: %1</source>
        <translation>停止规则：%1</translation>
    </message>
    <message>
        <source>the runs have different data</source>
        <translation>各运行的数据不同</translation>
    </message>
    <message>
        <source>the blocks have %1 and %2 samples</source>
        <translation>块分别有 %1 和 %2 个样本</translation>
    </message>
    <message>
        <source>the chunks are cut differently</source>
        <translation>数据段的切法不同</translation>
    </message>
    <message>
        <source>the tokenizers differ, so losses per token cannot be compared</source>
        <translation>分词器不同，因此每词元损失无法比较</translation>
    </message>
    <message>
        <source>%1 and %2 have different tokenizers: their losses are not of the same tokens.</source>
        <translation>%1 与 %2 的分词器不同：它们的损失不是同样词元的损失。</translation>
    </message>
    <message>
        <source>%1 and %2 were evaluated on different text: their eval losses say nothing of each other.</source>
        <translation>%1 与 %2 在不同文本上评估：它们的评估损失不能相互比较。</translation>
    </message>
    <message>
        <source>%1 was evaluated on %2 tokens of the held-out text, %3 on %4.</source>
        <translation>%1 用留出文本的 %2 个词元评估，%3 用 %4 个。</translation>
    </message>
    <message>
        <source>cannot open %1</source>
        <translation>无法打开 %1</translation>
    </message>
    <message>
        <source>it is a link</source>
        <translation>它是一个链接</translation>
    </message>
    <message>
        <source>the chat template is larger than 1 MiB</source>
        <translation>对话模板大于 1 MiB</translation>
    </message>
    <message>
        <source>the chat template refuses this: %1</source>
        <translation>对话模板拒绝了此内容：%1</translation>
    </message>
    <message>
        <source>it is too large</source>
        <translation>它太大了</translation>
    </message>
    <message>
        <source>the chat template fails in line %1: %2</source>
        <translation>对话模板在第 %1 行出错：%2</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a password or a signature in it, which would be kept in the run. Put the whole address into the environment variable FURROW_DATA_SECRET, also when the run is resumed, and give here %3.</source>
        <translation>%1 含有 %2，这是带有密码或签名的地址，会被保存在运行中。请把完整地址放进环境变量 FURROW_DATA_SECRET（恢复运行时也一样），在此处填写 %3。</translation>
    </message>
    <message>
        <source>%1 is empty, allowed is at least one file, folder, hf://, https://, s3:// or gs:// source.</source>
        <translation>%1 为空；至少需要一个文件、文件夹，或 hf://、https://、s3://、gs:// 来源。</translation>
    </message>
    <message>
        <source>its server promises no SHA-256 of it; what comes is compared with its ETag or Last-Modified</source>
        <translation>其服务器不提供 SHA-256；收到的内容与其 ETag 或 Last-Modified 比较</translation>
    </message>
    <message>
        <source>%1 is taken as %2 text and is converted to UTF-8. It could as well be %3: name the right one with --encoding.</source>
        <translation>%1 被当作 %2 文本并转换为 UTF-8。它也可能是 %3：请用 --encoding 指明正确的编码。</translation>
    </message>
    <message>
        <source>%1, which reads %2 where %3 reads %4</source>
        <translation>%1（读作 %2，而 %3 读作 %4）</translation>
    </message>
    <message>
        <source>the store&apos;s list cannot be read</source>
        <translation>无法读取存储的列表</translation>
    </message>
    <message>
        <source>%1 cannot prove that it is this server: %2. Nothing is read from it. CURL_CA_BUNDLE names a file of further certificates to trust.</source>
        <translation>%1 无法证明它就是该服务器：%2。不会从中读取任何内容。CURL_CA_BUNDLE 可指定包含其他受信任证书的文件。</translation>
    </message>
    <message>
        <source>Another run fetches %1 and stands still (%2), so it is fetched here too.</source>
        <translation>另一个运行正在获取 %1 但已停住（%2），因此这里也自行获取。</translation>
    </message>
    <message>
        <source>another run fetches %1 (%2)</source>
        <translation>另一个运行正在获取 %1（%2）</translation>
    </message>
    <message>
        <source>%1. Check the network; https_proxy names a proxy.</source>
        <translation>%1。请检查网络；https_proxy 可指定代理。</translation>
    </message>
    <message>
        <source>%1: the server answered %2.</source>
        <translation>%1：服务器返回 %2。</translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not encrypted (https), and is not followed.</source>
        <translation>%1 指向 %2，后者未加密（https），因此不跟随。</translation>
    </message>
    <message>
        <source>%1: the store&apos;s list does not end, page %2 leads back or on for ever. The store is at fault.</source>
        <translation>%1：存储的列表没有尽头，第 %2 页返回前面或无限继续。这是存储的错误。</translation>
    </message>
    <message>
        <source>%1: its server says neither how long the file is nor where it ends, so nobody could see that the end is missing. Download it and name the file.</source>
        <translation>%1：其服务器既不说明文件多长，也不说明在哪里结束，因此无法发现结尾缺失。请下载后指明该文件。</translation>
    </message>
    <message>
        <source>%1 is another file now: it has other bytes than it had (SHA-256).</source>
        <translation>%1 现在是另一个文件：其字节与以前不同（SHA-256）。</translation>
    </message>
    <message>
        <source>checking %1: %2 of %3</source>
        <translation>正在检查 %1：%2 / %3</translation>
    </message>
    <message>
        <source>checking file %1, %2: %3 of %4</source>
        <translation>正在检查文件 %1，%2：%3 / %4</translation>
    </message>
    <message>
        <source>downloading %1: %2 at %3/s</source>
        <translation>正在下载 %1：%2，%3/s</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>hf://%1 has no file with text (txt, csv, tsv, jsonl, parquet, zip, tar).</source>
        <translation>hf://%1 没有文本文件（txt、csv、tsv、jsonl、parquet、zip、tar）。</translation>
    </message>
    <message>
        <source>%1 names no bucket. The form is s3://bucket/key or gs://bucket/key; the key may be a file, a folder that ends in /, or a pattern with *.</source>
        <translation>%1 没有指明存储桶。格式为 s3://存储桶/键 或 gs://存储桶/键；键可以是文件、以 / 结尾的文件夹，或带 * 的模式。</translation>
    </message>
    <message>
        <source>%1 has to be downloaded as a whole, and there is no cache for it.</source>
        <translation>%1 必须整个下载，但没有可用的缓存。</translation>
    </message>
    <message>
        <source>%1 has a name that is not UTF-8, or no ETag, and was left out.</source>
        <translation>%1 的名称不是 UTF-8，或没有 ETag，已被略去。</translation>
    </message>
    <message>
        <source>%1: %2. Its server cannot send parts of it, or gives its state no name, so it is downloaded as a whole, from its beginning each time, and known by its SHA-256.</source>
        <translation>%1：%2。其服务器不能发送部分内容，或不标明其状态，因此每次都从头整个下载，并以 SHA-256 识别。</translation>
    </message>
    <message>
        <source>%1: %2 files, %3, each known by its ETag.</source>
        <translation>%1：%2 个文件，%3，各以其 ETag 识别。</translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified) and by its SHA-256.</source>
        <translation>%1：%2，以 %3（ETag 或 Last-Modified）和 SHA-256 识别。</translation>
    </message>
    <message>
        <source>%1: %2, known by %3 (ETag or Last-Modified).</source>
        <translation>%1：%2，以 %3（ETag 或 Last-Modified）识别。</translation>
    </message>
    <message>
        <source>%1 is another file now: its server calls it %2, before %3 (ETag or Last-Modified).</source>
        <translation>%1 现在是另一个文件：其服务器称之为 %2，之前为 %3（ETag 或 Last-Modified）。</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile AWS_PROFILE in ~/.aws; without them only what is open to all can be read. Keys for a time may have run out.</source>
        <translation>不允许读取 %1（%2）。密钥来自 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY，或 ~/.aws 中的配置 AWS_PROFILE；没有密钥只能读取公开内容。临时密钥可能已过期。</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). CLOUDSDK_AUTH_ACCESS_TOKEN holds the token that asks (gcloud auth print-access-token), which lasts an hour; without it only what is open to all can be read.</source>
        <translation>不允许读取 %1（%2）。CLOUDSDK_AUTH_ACCESS_TOKEN 存放请求用的令牌（gcloud auth print-access-token），有效一小时；没有它只能读取公开内容。</translation>
    </message>
    <message>
        <source>%1 may not be read (%2). Where it needs a password or a signature, put the whole address with it into FURROW_DATA_SECRET; a signature may have run out.</source>
        <translation>不允许读取 %1（%2）。如果需要密码或签名，请把带有它的完整地址放进 FURROW_DATA_SECRET；签名可能已过期。</translation>
    </message>
    <message>
        <source>%1 does not exist (%2). Check the address.</source>
        <translation>%1 不存在（%2）。请检查地址。</translation>
    </message>
    <message>
        <source>%1 does not exist. Check the path, or write hf://owner/name for a data set of the hub, https://... for a file of a server.</source>
        <translation>%1 不存在。请检查路径；Hub 的数据集写作 hf://所有者/名称，服务器上的文件写作 https://...。</translation>
    </message>
    <message>
        <source>is missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>is not a list of whole numbers</source>
        <translation>不是整数列表</translation>
    </message>
    <message>
        <source>is not a list of texts</source>
        <translation>不是文本列表</translation>
    </message>
    <message>
        <source>is not an object</source>
        <translation>不是对象</translation>
    </message>
    <message>
        <source>key %1 %2</source>
        <translation>键 %1 %2</translation>
    </message>
    <message>
        <source>is not known here and might change what the model computes</source>
        <translation>此处不支持，且可能改变模型的计算结果</translation>
    </message>
    <message>
        <source>is &apos;%1&apos;, which is not known here</source>
        <translation>为“%1”，此处不支持</translation>
    </message>
    <message>
        <source>is false, which is not known here</source>
        <translation>为 false，此处不支持</translation>
    </message>
    <message>
        <source>is not above 0</source>
        <translation>不大于 0</translation>
    </message>
    <message>
        <source>does not name one type for each layer</source>
        <translation>没有为每一层指定一种类型</translation>
    </message>
    <message>
        <source>has &apos;%1&apos;, which is not known here</source>
        <translation>含有“%1”，此处不支持</translation>
    </message>
    <message>
        <source>is not 0, which is not known here</source>
        <translation>不为 0，此处不支持</translation>
    </message>
    <message>
        <source>is not 1: some layers have no experts, which is not known here</source>
        <translation>不为 1：某些层没有专家，此处不支持</translation>
    </message>
    <message>
        <source>names layers without experts, which is not known here</source>
        <translation>指定了没有专家的层，此处不支持</translation>
    </message>
    <message>
        <source>is set, which is not known here</source>
        <translation>已设置，此处不支持</translation>
    </message>
    <message>
        <source>scales the positions of layers with a window, which is not known here</source>
        <translation>缩放了带窗口的层的位置，此处不支持</translation>
    </message>
    <message>
        <source>is set, which is not known here for phi3</source>
        <translation>已设置，对于 phi3 此处不支持</translation>
    </message>
    <message>
        <source>model_type is &apos;%1&apos;; known are %2</source>
        <translation>model_type 为“%1”；已知的有 %2</translation>
    </message>
    <message>
        <source>this model has no Hugging Face layout: GPT-2 needs learned positions, layernorm, gelu and as many key-value heads as heads; Llama and Mixtral need rope, rmsnorm and swiglu</source>
        <translation>此模型没有对应的 Hugging Face 格式：GPT-2 需要学习的位置、layernorm、gelu，且键值头数与头数相同；Llama 和 Mixtral 需要 rope、rmsnorm 和 swiglu</translation>
    </message>
    <message>
        <source>is not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>is not part of a shape</source>
        <translation>不是形状的组成部分</translation>
    </message>
    <message>
        <source>The shape of the model cannot be read: %1.</source>
        <translation>无法读取模型的形状：%1。</translation>
    </message>
    <message>
        <source>The shape of the model is wrong: %1.</source>
        <translation>模型的形状有误：%1。</translation>
    </message>
    <message>
        <source>the %1 in %2</source>
        <translation>%2 中的 %1</translation>
    </message>
    <message>
        <source>run %1</source>
        <translation>运行 %1</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 has %4, which init_from takes over. Leave this setting out.</source>
        <translation>%1 为 %2，但 %3 为 %4，init_from 会采用后者。请不要给出此设置。</translation>
    </message>
    <message>
        <source>seq_len is %1, but %2 has a context of %3. Give at most that.</source>
        <translation>seq_len 为 %1，但 %2 的上下文为 %3。请给出不超过该值的数。</translation>
    </message>
    <message>
        <source>Shape from %1: %2</source>
        <translation>形状取自 %1：%2</translation>
    </message>
    <message>
        <source>Tokenizer: %1</source>
        <translation>分词器：%1</translation>
    </message>
    <message>
        <source>Windows of %1 tokens are trained (seq_len); the model keeps its context of %2.</source>
        <translation>训练窗口为 %1 个词元（seq_len）；模型保留其 %2 的上下文。</translation>
    </message>
    <message>
        <source>%1: the download in the cache does not hold what was promised of it (SHA-256); it is put aside when it is read next, or by &apos;furrowctl cache verify&apos;</source>
        <translation>%1：缓存中的下载与应有的内容不符（SHA-256）；下次读取时会被移到一旁，也可用“furrowctl cache verify”移开</translation>
    </message>
    <message>
        <source>SHA-256 of %1 downloads in the cache against what was promised; %2 more are not there, and are compared when they come</source>
        <translation>缓存中 %1 个下载的 SHA-256 与给定值的对照；另有 %2 个不在缓存中，到达时再对照</translation>
    </message>
    <message>
        <source>%1; %2 files are not verified as a whole, the first: %3</source>
        <translation>%1；%2 个文件未作整体校验，第一个：%3</translation>
    </message>
    <message>
        <source>tokenizer is %1 with %2 ids, but the model of init_from has %3. Leave tokenizer out, or name that model&apos;s.</source>
        <translation>tokenizer 为 %1，有 %2 个编号，但 init_from 的模型有 %3 个。请不要给出 tokenizer，或指定该模型的分词器。</translation>
    </message>
    <message>
        <source>waiting for the data: %1</source>
        <translation>正在等待数据：%1</translation>
    </message>
    <message>
        <source>Files from the network: %1 of %2 verified as a whole (SHA-256), %3 not yet.</source>
        <translation>来自网络的文件：%2 个中 %1 个已整体校验（SHA-256），%3 个尚未。</translation>
    </message>
    <message>
        <source>Not verified as a whole: %1 of %2 files; of the first %3.</source>
        <translation>未作整体校验：%2 个文件中的 %1 个；第一个：%3。</translation>
    </message>
    <message>
        <source>The supervisor stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then nothing is merged and no process that ends is started again.</source>
        <translation>监督进程停住了：有人暂停了进程 %1（Ctrl+Z、SIGSTOP、调试器）。SIGCONT（`fg`、`kill -CONT`）可让它继续；在此之前不会合并，结束的进程也不会重新启动。</translation>
    </message>
    <message>
        <source>it stood still while workers waited for data</source>
        <translation>它停住了，而工作进程在等待数据</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 start afresh: no checkpoint has them any more.</source>
        <translation>副本 %1 的优化器动量重新开始：已没有检查点保存它们。</translation>
    </message>
    <message>
        <source>config.json is of another model than these weights: %1</source>
        <translation>config.json 与这些权重不属于同一模型：%1</translation>
    </message>
    <message>
        <source>%1 is not a JSON object.</source>
        <translation>%1 不是 JSON 对象。</translation>
    </message>
    <message>
        <source>%1 has no chat_template. Name the file of a template, or the folder of a model that has one.</source>
        <translation>%1 没有 chat_template。请指定模板文件，或含有模板的模型文件夹。</translation>
    </message>
    <message>
        <source>There is no chat template %1. Name its file, the folder of a model that has one, or chatml.</source>
        <translation>没有对话模板 %1。请指定模板文件、含有模板的模型文件夹，或 chatml。</translation>
    </message>
    <message>
        <source>%1 holds what looks like a password, a token or an address that opens itself, which would be kept in the run and shown everywhere. Take it out.</source>
        <translation>%1 中含有疑似密码、令牌或自带访问权限的地址，它会保存在运行中并到处显示。请将其去掉。</translation>
    </message>
    <message>
        <source>is a form of conversations that this Furrow does not know</source>
        <translation>是此 Furrow 不认识的对话格式</translation>
    </message>
    <message>
        <source>is not a name with a text</source>
        <translation>不是名称及其文本</translation>
    </message>
    <message>
        <source>%1 arrived with other bytes than it had (SHA-256), though its server says that it is the same file. Try again; if it stays so, the server or a proxy is at fault.</source>
        <translation>%1 收到的字节与以前不同（SHA-256），而其服务器称是同一个文件。请重试；若仍如此，则是服务器或代理有问题。</translation>
    </message>
    <message>
        <source>The column %1 holds conversations. With a chat_template they are trained as such; without one their texts are plain text.</source>
        <translation>列 %1 含有对话。有 chat_template 时按对话训练；没有时其文本按纯文本处理。</translation>
    </message>
    <message>
        <source>%1 holds conversations in the column %2, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl, or set chat_template to none to train its texts as plain text.</source>
        <translation>%1 的列 %2 中含有对话，而对话只能从 jsonl、json、csv、tsv 和 Parquet 读取。请将其写成 jsonl，或把 chat_template 设为 none，将其文本作为纯文本训练。</translation>
    </message>
    <message>
        <source>%1 holds conversations in the form &apos;%2&apos;, the files before it in the form &apos;%3&apos;. Name them as two sources.</source>
        <translation>%1 中的对话为“%2”格式，之前的文件为“%3”格式。请将它们指定为两个来源。</translation>
    </message>
    <message>
        <source>The rows are conversations (%1, column %2): the chat template writes them, answers are learnt.</source>
        <translation>各行是对话（%1，列 %2）：由对话模板写出，学习的是回答。</translation>
    </message>
    <message>
        <source>No conversation of %1 can be trained: the first one %2. A template that marks with {% generation %} what the assistant writes fits all conversations; with chat_loss last one without it fits more.</source>
        <translation>%1 中没有可以训练的对话：第一个对话%2。用 {% generation %} 标出助手所写内容的模板适用于所有对话；chat_loss 为 last 时，没有该标记的模板适用的对话更多。</translation>
    </message>
    <message>
        <source>The chat template writes %1, which the tokenizer does not have as a token: it becomes %2 tokens.</source>
        <translation>对话模板会写出 %1，而分词器没有对应的词元：它会变成 %2 个词元。</translation>
    </message>
    <message>
        <source>tokens is not a list of texts</source>
        <translation>tokens 不是文本列表</translation>
    </message>
    <message>
        <source>token_type is not a list with a number for each token</source>
        <translation>token_type 不是每个词元对应一个数字的列表</translation>
    </message>
    <message>
        <source>scores is not a list with a number for each token</source>
        <translation>scores 不是每个词元对应一个数字的列表</translation>
    </message>
    <message>
        <source>token_type has the unknown kind %1</source>
        <translation>token_type 含有未知的种类 %1</translation>
    </message>
    <message>
        <source>tokens has &apos;%1&apos; twice</source>
        <translation>tokens 中“%1”出现两次</translation>
    </message>
    <message>
        <source>pre is &apos;%1&apos;, a way to split text that is not known here; known are %2</source>
        <translation>pre 为“%1”，这种切分文本的方式此处不支持；已知的有 %2</translation>
    </message>
    <message>
        <source>merges is not a list of texts</source>
        <translation>merges 不是文本列表</translation>
    </message>
    <message>
        <source>model is &apos;%1&apos;, which is not known here; known are gpt2, llama</source>
        <translation>model 为“%1”，此处不支持；已知的有 gpt2、llama</translation>
    </message>
    <message>
        <source>llama.cpp has no form for this tokenizer: %1. Export as huggingface.</source>
        <translation>llama.cpp 没有适合此分词器的格式：%1。请以 huggingface 导出。</translation>
    </message>
    <message>
        <source>&apos;%1&apos; has the id %2, the model has %3 rows</source>
        <translation>“%1”的编号为 %2，而模型有 %3 行</translation>
    </message>
    <message>
        <source>a merge is not a pair of texts without spaces</source>
        <translation>有一项 merge 不是一对不含空格的文本</translation>
    </message>
    <message>
        <source>it splits text in none of the ways that are known here: %1</source>
        <translation>它切分文本的方式不是此处已知的任何一种：%1</translation>
    </message>
    <message>
        <source>its sentencepiece model is not a byte-pair one, or changes characters first</source>
        <translation>它的 sentencepiece 模型不是字节对模型，或会先改变字符</translation>
    </message>
    <message>
        <source>it is neither byte-pair of bytes (tokenizer.json) nor of sentencepiece (tokenizer.model)</source>
        <translation>它既不是按字节的字节对分词器（tokenizer.json），也不是 sentencepiece 的字节对分词器（tokenizer.model）</translation>
    </message>
    <message>
        <source>There is no tokenizer %1. Give byte, char, gpt2 or the path of a tokenizer.json or sentencepiece .model.</source>
        <translation>没有分词器 %1。请给出 byte、char、gpt2，或 tokenizer.json 或 sentencepiece .model 的路径。</translation>
    </message>
    <message>
        <source>This is a Jetson, for which libtorch comes from NVIDIA alone. Workers train on the CPU; to use the GPU, build Furrow with that libtorch (FURROW_TORCH).</source>
        <translation>这是一台 Jetson，其 libtorch 只由 NVIDIA 提供。工作进程在 CPU 上训练；要使用 GPU，请用该 libtorch 构建 Furrow（FURROW_TORCH）。</translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs CUDA up to %2, and libtorch needs CUDA %3. Update the driver to train on the GPU; until then workers train on the CPU.</source>
        <translation>NVIDIA 驱动 %1 最高支持 CUDA %2，而 libtorch 需要 CUDA %3。请更新驱动以便在 GPU 上训练；在此之前工作进程在 CPU 上训练。</translation>
    </message>
    <message>
        <source>The NVIDIA driver %1 runs what libtorch needs.</source>
        <translation>NVIDIA 驱动 %1 满足 libtorch 的要求。</translation>
    </message>
    <message>
        <source>The GPU here is AMD&apos;s, which Furrow cannot use: there is no build of it for ROCm. Workers train on the CPU.</source>
        <translation>此处的 GPU 是 AMD 的，Furrow 无法使用：没有适用于 ROCm 的构建。工作进程在 CPU 上训练。</translation>
    </message>
    <message>
        <source>%1 Workers train on the CPU.</source>
        <translation>%1 工作进程在 CPU 上训练。</translation>
    </message>
    <message>
        <source>%1 asks for an account (HTTP %2). Give it as pip takes it: in PIP_INDEX_URL or pip.conf, https://name:password@host.</source>
        <translation>%1 要求登录账户（HTTP %2）。请按 pip 的方式提供：在 PIP_INDEX_URL 或 pip.conf 中写 https://name:password@host。</translation>
    </message>
    <message>
        <source>%1 answers with HTTP %2.</source>
        <translation>%1 返回 HTTP %2。</translation>
    </message>
    <message>
        <source>%1 redirects to something that is not an address.</source>
        <translation>%1 重定向到的不是地址。</translation>
    </message>
    <message>
        <source>%1 redirects without end.</source>
        <translation>%1 无休止地重定向。</translation>
    </message>
    <message>
        <source>%1 %2 cannot be fetched: %3. Without a network, `furrowctl torch install --from FOLDER` takes a folder of wheels that were fetched elsewhere.</source>
        <translation>无法下载 %1 %2：%3。没有网络时，`furrowctl torch install --from FOLDER` 可使用在别处下载的 wheel 文件夹。</translation>
    </message>
    <message>
        <source>No wheel of %1 %2 for this computer with a pinned hash is in %3. The index is the one that pip is configured for; PIP_INDEX_URL names another one, `furrowctl torch install --from FOLDER` takes a folder of wheels.</source>
        <translation>%3 中没有适用于本机且哈希已固定的 %1 %2 的 wheel。所用索引是 pip 配置的索引；PIP_INDEX_URL 可指定其他索引，`furrowctl torch install --from FOLDER` 可使用一个 wheel 文件夹。</translation>
    </message>
    <message>
        <source>%1 is not a libtorch: there is no lib/libtorch_cpu.so in it. Name the folder of an unpacked libtorch or site-packages/torch.</source>
        <translation>%1 不是 libtorch：其中没有 lib/libtorch_cpu.so。请指定解包后的 libtorch 文件夹或 site-packages/torch。</translation>
    </message>
    <message>
        <source>The libtorch %1 in %2 does not fit this Furrow (%3). `furrowctl torch install` brings one that fits.</source>
        <translation>%2 中的 libtorch %1 与此 Furrow（%3）不匹配。`furrowctl torch install` 会安装匹配的版本。</translation>
    </message>
    <message>
        <source>The libtorch in %1 is %2 and this Furrow was built with %3; libtorch promises nothing to programs that were built with another series. `furrowctl torch install` brings one that fits.</source>
        <translation>%1 中的 libtorch 为 %2，而此 Furrow 用 %3 构建；对于用其他版本系列构建的程序，libtorch 不保证兼容。`furrowctl torch install` 会安装匹配的版本。</translation>
    </message>
    <message>
        <source>of an unknown version</source>
        <translation>未知版本</translation>
    </message>
    <message>
        <source>%1 has %2 free and about %3 are needed. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation>%1 的空闲空间为 %2，而大约需要 %3。请腾出空间，或将 XDG_DATA_HOME 设为更大磁盘上的文件夹。</translation>
    </message>
    <message>
        <source>%1. Trying again in %2 s.</source>
        <translation>%1。%2 秒后重试。</translation>
    </message>
    <message>
        <source>%1 lacks wheels for this computer: %2. Where there is a network, `python3 -m pip download --no-deps --dest FOLDER` with these names fetches them.</source>
        <translation>%1 缺少适用于本机的 wheel：%2。在有网络的地方，可用 `python3 -m pip download --no-deps --dest FOLDER` 加上这些名称来下载。</translation>
    </message>
    <message>
        <source>%1 is neither a file nor a folder.</source>
        <translation>%1 既不是文件也不是文件夹。</translation>
    </message>
    <message>
        <source>%1 needs %2 %3 beside it in its folder.</source>
        <translation>%1 需要同一文件夹中有 %2 %3。</translation>
    </message>
    <message>
        <source>libtorch %1: %2 files, of which %3 are to be fetched; %4 of disk are needed while it is installed, about %5 afterwards, in %6.</source>
        <translation>libtorch %1：%2 个文件，其中需下载 %3；安装期间在 %6 中需要 %4 磁盘空间，之后约占 %5。</translation>
    </message>
    <message>
        <source>%1 is not a file that Furrow knows; its SHA-256 is %2. It is taken because you named it.</source>
        <translation>%1 不是 Furrow 已知的文件；其 SHA-256 为 %2。因为是您指定的，所以予以采用。</translation>
    </message>
    <message>
        <source>%1 has the SHA-256 %2, which is none of those that Furrow knows for %3 %4. It is damaged or something else: fetch it again.</source>
        <translation>%1 的 SHA-256 为 %2，不是 Furrow 所知的 %3 %4 的任何一个。它已损坏或是别的文件：请重新下载。</translation>
    </message>
    <message>
        <source>Another `furrowctl torch` is at work in %1. Wait for its end.</source>
        <translation>另一个 `furrowctl torch` 正在 %1 中运行。请等待其结束。</translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch is missing. `furrowctl torch install` brings it, `furrowctl torch find` takes one that is there already. Runs can be watched without it.</source>
        <translation>此处无法训练：缺少 libtorch。`furrowctl torch install` 会安装它，`furrowctl torch find` 会采用已有的。没有它也可以查看运行。</translation>
    </message>
    <message>
        <source>Training is not possible here: libtorch was in %1 and is there no more. `furrowctl torch find` looks for another one, `furrowctl torch install` brings one.</source>
        <translation>此处无法训练：libtorch 原在 %1，现已不在。`furrowctl torch find` 会另找一个，`furrowctl torch install` 会安装一个。</translation>
    </message>
    <message>
        <source>the active environment</source>
        <translation>当前激活的环境</translation>
    </message>
    <message>
        <source>The disk of %1 takes no more. Make room, then run this again: it goes on from here.</source>
        <translation>%1 所在的磁盘已满。请腾出空间，然后再次运行：它会从此处继续。</translation>
    </message>
    <message>
        <source>%1 sent another part than was asked for.</source>
        <translation>%1 发送的部分不是所请求的部分。</translation>
    </message>
    <message>
        <source>%1. What is there already is kept: run this again, and it goes on from there.</source>
        <translation>%1。已有的内容会保留：再次运行即可从那里继续。</translation>
    </message>
    <message>
        <source>%1 from %2 has the SHA-256 %3, which is none of those that Furrow knows for %4 %5. It was thrown away. Run this again; if it comes again, the index holds something else: name another one in PIP_INDEX_URL.</source>
        <translation>来自 %2 的 %1 的 SHA-256 为 %3，不是 Furrow 所知的 %4 %5 的任何一个，已将其丢弃。请再次运行；若再次出现，则该索引中是别的内容：请在 PIP_INDEX_URL 中指定其他索引。</translation>
    </message>
    <message>
        <source>%1 is not a wheel that Furrow can unpack: %2 is a link, encrypted, packed in a strange way, or too much.</source>
        <translation>%1 不是 Furrow 能解包的 wheel：%2 是链接、已加密、打包方式异常或过大。</translation>
    </message>
    <message>
        <source>at byte %1: %2</source>
        <translation>在字节 %1 处：%2</translation>
    </message>
    <message>
        <source>a text of %1 bytes does not fit</source>
        <translation>一段 %1 字节的文本放不下</translation>
    </message>
    <message>
        <source>a text before it is not UTF-8</source>
        <translation>它之前的一段文本不是 UTF-8</translation>
    </message>
    <message>
        <source>a boolean is neither 0 nor 1</source>
        <translation>一个布尔值既不是 0 也不是 1</translation>
    </message>
    <message>
        <source>a value is of an unknown kind</source>
        <translation>一个值的种类未知</translation>
    </message>
    <message>
        <source>a value is of the unknown kind %1</source>
        <translation>一个值的种类 %1 未知</translation>
    </message>
    <message>
        <source>a list holds lists, which nothing here needs</source>
        <translation>一个列表中含有列表，此处用不到</translation>
    </message>
    <message>
        <source>a list of %1 values does not fit</source>
        <translation>一个有 %1 个值的列表放不下</translation>
    </message>
    <message>
        <source>the header is longer than 256 MiB</source>
        <translation>文件头超过 256 MiB</translation>
    </message>
    <message>
        <source>the file ends in the middle of its header</source>
        <translation>文件在文件头中间就结束了</translation>
    </message>
    <message>
        <source>it does not begin as a GGUF does</source>
        <translation>它的开头不是 GGUF 的开头</translation>
    </message>
    <message>
        <source>its numbers are big-endian, which is not known here</source>
        <translation>它的数字是大端序，此处不支持</translation>
    </message>
    <message>
        <source>it is of version %1 of GGUF; known are 2 and 3</source>
        <translation>它是 GGUF 的版本 %1；已知的有 2 和 3</translation>
    </message>
    <message>
        <source>%1 tensors do not fit</source>
        <translation>%1 个张量放不下</translation>
    </message>
    <message>
        <source>%1 metadata do not fit</source>
        <translation>%1 项元数据放不下</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; %2</source>
        <translation>张量“%1”%2</translation>
    </message>
    <message>
        <source>has %1 dimensions</source>
        <translation>有 %1 个维度</translation>
    </message>
    <message>
        <source>has an impossible shape</source>
        <translation>形状不可能成立</translation>
    </message>
    <message>
        <source>is of type %1 of ggml, which is not known here; known are f32, f16, bf16, q8_0, q4_0, q4_1, q6_k</source>
        <translation>为 ggml 的类型 %1，此处不支持；已知的有 f32、f16、bf16、q8_0、q4_0、q4_1、q6_k</translation>
    </message>
    <message>
        <source>has rows of %1 numbers, which is not a multiple of %2</source>
        <translation>每行有 %1 个数，不能分成 %2 的整块</translation>
    </message>
    <message>
        <source>general.alignment is not a power of two up to 1048576</source>
        <translation>general.alignment 不是不超过 1048576 的 2 的幂</translation>
    </message>
    <message>
        <source>is listed twice</source>
        <translation>列出了两次</translation>
    </message>
    <message>
        <source>begins at byte %1 of the data, which is not a multiple of %2</source>
        <translation>从数据的字节 %1 开始，而这不是 %2 的倍数</translation>
    </message>
    <message>
        <source>overlaps the one before it</source>
        <translation>与前一个重叠</translation>
    </message>
    <message>
        <source>needs %1 bytes from byte %2 of the data, which has %3</source>
        <translation>从数据的字节 %2 起需要 %1 个字节，而数据共有 %3 个</translation>
    </message>
    <message>
        <source>%1 is there twice</source>
        <translation>%1 出现两次</translation>
    </message>
    <message>
        <source>%1 has a value that GGUF does not hold here</source>
        <translation>%1 的值无法在此存入 GGUF</translation>
    </message>
    <message>
        <source>models of %1 are not written as GGUF here; known are %2. Export as huggingface.</source>
        <translation>%1 模型在此不能写成 GGUF；已知的有 %2。请以 huggingface 导出。</translation>
    </message>
    <message>
        <source>a GGUF cannot say what this model is: %1</source>
        <translation>GGUF 无法表示此模型的这些方面：%1</translation>
    </message>
    <message>
        <source>is set beside rope_freqs</source>
        <translation>与 rope_freqs 同时设置</translation>
    </message>
    <message>
        <source>stretches positions in a way that is not known here</source>
        <translation>以此处不支持的方式拉伸位置</translation>
    </message>
    <message>
        <source>is not attention.key_length, which is not known here</source>
        <translation>不等于 attention.key_length，此处不支持</translation>
    </message>
    <message>
        <source>is not the width of the model divided by its heads</source>
        <translation>不等于模型宽度除以头数</translation>
    </message>
    <message>
        <source>is not the width of a head, which is not known here</source>
        <translation>不等于一个头的宽度，此处不支持</translation>
    </message>
    <message>
        <source>general.architecture is &apos;%1&apos;; known are %2</source>
        <translation>general.architecture 为“%1”；已知的有 %2</translation>
    </message>
    <message>
        <source>Chat template from %1, for rows that are conversations</source>
        <translation>来自 %1 的对话模板，用于内容为对话的行</translation>
    </message>
    <message>
        <source>tracker and run.json disagree: %1 is &apos;%2&apos; in the tracker and &apos;%3&apos; by run.json, and chunks would be given out or counted in another way. One of the two was changed from outside; put a copy of it back from before.</source>
        <translation>账本与 run.json 不一致：%1 在账本中为“%2”，在 run.json 中为“%3”，数据段会因此以另一种方式分发或计数。两者之一被外部更改；请放回它以前的副本。</translation>
    </message>
    <message>
        <source>%1 says that this is run %2, and none of its checkpoints is of that run: %3 are of run %4. Nothing was changed, since a repair by this run.json would give up all of them. Put the run.json of the run back.</source>
        <translation>%1 称这是运行 %2，而没有一个检查点属于该运行：%3 属于运行 %4。未作任何更改，因为按此 run.json 修复会放弃所有这些检查点。请放回此运行的 run.json。</translation>
    </message>
    <message>
        <source>The run knows no chunk of its data yet: the first block is read when it trains.</source>
        <translation>还没有此运行数据的任何数据段信息：开始训练时才会读取第一个块。</translation>
    </message>
    <message>
        <source>The run has no epoch %1: it has begun %2 so far.</source>
        <translation>此运行没有第 %1 轮：到目前为止已开始 %2 轮。</translation>
    </message>
    <message>
        <source>The run has no chunk %1:%2: it knows the blocks 0 to %3 so far.</source>
        <translation>此运行没有数据段 %1:%2：到目前为止已知的是块 0 到 %3。</translation>
    </message>
    <message>
        <source>Chat template: %1</source>
        <translation>对话模板：%1</translation>
    </message>
    <message>
        <source>The run is %1: nothing is paused. `furrowctl resume` goes on with it, and says first what is trained again.</source>
        <translation>运行的状态为 %1：没有暂停任何内容。`furrowctl resume` 会恢复此运行，并先说明哪些内容会重新训练。</translation>
    </message>
    <message>
        <source>A tracker made anew would give up newest weights that the old one knew, since nothing whole in %1 proves them: %2. Nothing was changed. Put a whole copy of them back and repair then; or &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on without them and their chunks are trained again.</source>
        <translation>重做的账本会放弃旧账本所知的最新权重，因为 %1 中没有完整的内容能证明它们：%2。未作任何更改。请放回它们的完整副本，然后再修复；或者用“furrowctl doctor %3 --repair --accept-loss”在没有它们的情况下继续，并重新训练其数据段。</translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers wait at the end of their chunks. Continue (`furrowctl continue`) lets them go on.</source>
        <translation>有人要求暂停：工作进程会在其数据段结束时等待。“继续”（`furrowctl continue`）会让它们继续。</translation>
    </message>
    <message>
        <source>A person asked for a stop: the workers save a checkpoint and end.</source>
        <translation>有人要求停止：工作进程保存检查点后结束。</translation>
    </message>
    <message>
        <source>A person asked for a kill: every process is ended, without a checkpoint.</source>
        <translation>有人要求强制结束：所有进程都会被终止，不保存检查点。</translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, or others wait for it, it is ended and started again.</source>
        <translation>工作进程 %1 停住了：有人暂停了进程 %2（Ctrl+Z、SIGSTOP、调试器）。SIGCONT（`fg`、`kill -CONT`）可让它继续；当其租期结束或其他进程在等待它时，会将其终止并重新启动。</translation>
    </message>
    <message>
        <source>The run ends with the block that is complete next: a person or a stopping rule asked for that.</source>
        <translation>运行会在下一个块完成时结束：这是有人要求的，或由停止规则决定。</translation>
    </message>
    <message>
        <source>The run ends when %1 more blocks are complete.</source>
        <translation>再完成 %1 个块后，运行结束。</translation>
    </message>
    <message>
        <source>The run ends with epoch %1: a person asked for that.</source>
        <translation>运行在第 %1 轮结束时结束：这是有人要求的。</translation>
    </message>
    <message>
        <source>%1 % of the tokens prepared so far stand for characters that the vocabulary does not have.</source>
        <translation>到目前为止准备的词元中有 %1 % 代表词表中没有的字符。</translation>
    </message>
    <message>
        <source>%1 ended with %2. See %3 for more.</source>
        <translation>%1 已结束：%2。详情见 %3。</translation>
    </message>
    <message>
        <source>Training is not possible here: furrow-worker does not start with the libtorch in %1 (%2). `furrowctl torch install` brings one that fits; of a build run packaging/run.sh again.</source>
        <translation>此处无法训练：furrow-worker 无法用 %1 中的 libtorch 启动（%2）。`furrowctl torch install` 会安装匹配的版本；若为自行构建，请再次运行 packaging/run.sh。</translation>
    </message>
    <message>
        <source>%1 has more than %2 that is not telemetry: nothing is read after that. Move it out of the folder, or put a copy of it back.</source>
        <translation>%1 中有超过 %2 的内容不是遥测数据：其后的部分不再读取。请将它移出文件夹，或放回它的副本。</translation>
    </message>
    <message>
        <source>%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run, a Hugging Face folder or a GGUF.</source>
        <translation>%1 中既没有 weights.safetensors 也没有 config.json。请指定某个运行的检查点文件夹、Hugging Face 文件夹或 GGUF。</translation>
    </message>
    <message>
        <source>Name the file to make with --out.</source>
        <translation>请用 --out 指定要生成的文件。</translation>
    </message>
    <message>
        <source>%1 is there already. Name a new file for the export.</source>
        <translation>%1 已存在。请为导出指定新的文件。</translation>
    </message>
    <message>
        <source>There is no type &apos;%1&apos;. Known are f32, f16, bf16, q8_0, q4_0, q4_1.</source>
        <translation>没有类型“%1”。已知的有 f32、f16、bf16、q8_0、q4_0、q4_1。</translation>
    </message>
    <message>
        <source>%1 is a model without a run, which has no checkpoints. Leave --checkpoint out.</source>
        <translation>%1 是不属于任何运行的模型，没有检查点。请不要给出 --checkpoint。</translation>
    </message>
    <message>
        <source>%1 has no tokenizer.json or tokenizer.model, so texts have no meaning for it.</source>
        <translation>%1 没有 tokenizer.json 或 tokenizer.model，因此文本对它没有意义。</translation>
    </message>
    <message>
        <source>The tokenizer of %1 has %2 ids, but the model has %3.</source>
        <translation>%1 的分词器有 %2 个编号，而模型有 %3 个。</translation>
    </message>
    <message>
        <source>the model of this run has no chat template; go on from a text with --prompt</source>
        <translation>此运行的模型没有对话模板；请用 --prompt 从一段文本续写</translation>
    </message>
    <message>
        <source>(The tokenizer has nothing for: %1)</source>
        <translation>（分词器无法表示：%1）</translation>
    </message>
    <message>
        <source>it computes wrong gradients: %1 where 1 is right</source>
        <translation>它计算的梯度有误：应为 1 之处得到 %1</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a number that %2 cannot hold. Export with --type f32.</source>
        <translation>张量“%1”含有 %2 无法表示的数。请用 --type f32 导出。</translation>
    </message>
    <message>
        <source>%1 is on, which works with architecture gpt only: hrm sums up a window as a whole.</source>
        <translation>%1 已开启，仅适用于架构 gpt：hrm 将整个窗口作为整体处理。</translation>
    </message>
    <message>
        <source>%1 is on, but %2 stream knows no samples.</source>
        <translation>%1 已开启，但 %2 stream 没有样本的概念。</translation>
    </message>
    <message>
        <source>%1 cannot be read</source>
        <translation>无法读取 %1</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of one checkpoint, the newest</source>
        <translation>最新一个检查点的 %1 个文件（%2）的 SHA-256</translation>
    </message>
    <message>
        <source>Neither the tracker nor its snapshot (%1) can be read, so nobody can say whether there were newer weights than those in %2. By these %3 of %4 known chunks are trained. Nothing was changed. Put back what you have of the two and repair then; or &apos;furrowctl doctor %5 --repair --accept-loss&apos; goes on from these.</source>
        <translation>账本及其快照（%1）均无法读取，因此无法确定是否曾有比 %2 中更新的权重。按这些权重，已知 %4 个数据段中有 %3 个已训练。未作任何更改。请放回两者中您拥有的副本后再修复；或用“furrowctl doctor %5 --repair --accept-loss”从这些权重继续。</translation>
    </message>
    <message>
        <source>%1 is a link that leads out of the model&apos;s folder, to %2, and what lies there would be kept in the run. Put a copy of the file in its place if it belongs to the model.</source>
        <translation>%1 是指向模型文件夹之外（%2）的链接，那里的内容会保留在运行中。如果该文件属于模型，请在此处放一份副本。</translation>
    </message>
    <message>
        <source>there is nothing at %1; name a checkpoint of a run, the folder of a model, or a weight file</source>
        <translation>%1 处没有任何内容；请指定某个运行的检查点、模型文件夹或权重文件</translation>
    </message>
    <message>
        <source>The chat template holds the secret of the environment variable %1, which would be kept in the run. Take it out of the template.</source>
        <translation>对话模板含有环境变量 %1 的机密，它会保存在运行中。请将其从模板中去掉。</translation>
    </message>
    <message>
        <source>The run could not be asked to end: %1 So its supervisor, process %2, was killed with all that it started.</source>
        <translation>无法请求该运行结束：%1 因此其监督进程（进程 %2）连同其启动的一切已被强制结束。</translation>
    </message>
    <message>
        <source>its supervisor was gone; it was last seen at %1 and found dead at %2</source>
        <translation>其监督进程已不存在；最后一次出现于 %1，于 %2 发现已结束</translation>
    </message>
    <message>
        <source>1 more is partly trained: %1 of its %2 samples are kept, and nothing of these is trained again.</source>
        <translation>另有 1 个数据段已部分训练：保留其 %2 个样本中的 %1 个，这些样本不会再次训练。</translation>
    </message>
    <message>
        <source>%1 more are partly trained: %2 of their %3 samples are kept, and nothing of these is trained again.</source>
        <translation>另有 %1 个数据段已部分训练：保留其 %3 个样本中的 %2 个，这些样本不会再次训练。</translation>
    </message>
    <message>
        <source>1 chunk partly trained: %1 of its %2 samples are in checkpoints, the rest is to come</source>
        <translation>1 个数据段部分已训练：其 %2 个样本中有 %1 个在检查点中，其余待训练</translation>
    </message>
    <message>
        <source>%1 chunks partly trained: %2 of their %3 samples are in checkpoints, the rest is to come</source>
        <translation>%1 个数据段部分已训练：其 %3 个样本中有 %2 个在检查点中，其余待训练</translation>
    </message>
    <message>
        <source>its prepared file is another one</source>
        <translation>其已准备好的文件是另一个文件</translation>
    </message>
    <message>
        <source>after epoch %1</source>
        <translation>第 %1 轮之后</translation>
    </message>
    <message>
        <source>after epoch %1 of %2</source>
        <translation>第 %1 轮之后（共 %2 轮）</translation>
    </message>
    <message>
        <source>after a block; %1 known chunks of the epoch are left, and what was not read yet</source>
        <translation>在一个块之后；该轮还剩 %1 个已知数据段，以及尚未读取的部分</translation>
    </message>
    <message>
        <source>after a block; %1 chunks of the epoch are left</source>
        <translation>在一个块之后；该轮还剩 %1 个数据段</translation>
    </message>
    <message>
        <source>block %1 has other content than when it was first prepared</source>
        <translation>块 %1 的内容与首次准备时不同</translation>
    </message>
    <message>
        <source>%1; its source has changed. Restore the source, or exclude the block</source>
        <translation>%1；其来源已更改。请恢复来源，或排除该块</translation>
    </message>
    <message>
        <source>a person asked for a pause</source>
        <translation>有人请求暂停</translation>
    </message>
    <message>
        <source>the pause is over</source>
        <translation>暂停已结束</translation>
    </message>
    <message>
        <source>precision is &apos;%1&apos;; allowed are auto, fp32, bf16, fp16</source>
        <translation>precision 为“%1”；可以是 auto、fp32、bf16、fp16</translation>
    </message>
    <message>
        <source>%1 has an empty name. Is a variable not set?</source>
        <translation>%1 含有空名称。是否有变量未设置？</translation>
    </message>
    <message>
        <source>user %1</source>
        <translation>用户 %1</translation>
    </message>
    <message>
        <source>another user</source>
        <translation>另一个用户</translation>
    </message>
    <message>
        <source>it took longer than %1 s</source>
        <translation>用时超过 %1 秒</translation>
    </message>
    <message>
        <source>it ended before it answered (%1)</source>
        <translation>在回答之前就结束了（%1）</translation>
    </message>
    <message>
        <source>is refused at message %1: %2</source>
        <translation>在第 %1 条消息处被拒绝：%2</translation>
    </message>
    <message>
        <source>has no messages</source>
        <translation>没有消息</translation>
    </message>
    <message>
        <source>is written by the chat template without a turn of the assistant</source>
        <translation>对话模板写出的内容不含助手的回合</translation>
    </message>
    <message>
        <source>The prepared block %1 is damaged: %2.</source>
        <translation>已准备的块 %1 已损坏：%2。</translation>
    </message>
    <message>
        <source>The prepared block %1 has version %2; this Furrow reads up to %3. Use a newer one.</source>
        <translation>已准备的块 %1 的版本为 %2；此 Furrow 最多读到 %3。请使用更新的版本。</translation>
    </message>
    <message>
        <source>The prepared block %1 has %2 chunks, asked was for chunk %3.</source>
        <translation>已准备的块 %1 有 %2 个数据段，而请求的是数据段 %3。</translation>
    </message>
    <message>
        <source>made with files that are left out</source>
        <translation>由被排除的文件制成</translation>
    </message>
    <message>
        <source>not in the cache</source>
        <translation>不在缓存中</translation>
    </message>
    <message>
        <source>A block plan of this run names a source that the data set does not have.</source>
        <translation>此运行的某个块计划指定了数据集中没有的来源。</translation>
    </message>
    <message>
        <source>Preparing block %1 was cancelled.</source>
        <translation>块 %1 的准备已取消。</translation>
    </message>
    <message>
        <source>%1 answered %2</source>
        <translation>%1 返回 %2</translation>
    </message>
    <message>
        <source>the comparison with the training data was interrupted</source>
        <translation>与训练数据的比较被中断</translation>
    </message>
    <message>
        <source>A block plan of this run was written by a newer Furrow. Use that one.</source>
        <translation>此运行的某个块计划由更新的 Furrow 写成。请使用那个版本。</translation>
    </message>
    <message>
        <source>The last block plan of this run does not fit its data manifest.</source>
        <translation>此运行的最后一个块计划与其数据清单不符。</translation>
    </message>
    <message>
        <source>A block plan of this run names a file that the data set does not have.</source>
        <translation>此运行的某个块计划指定了数据集中没有的文件。</translation>
    </message>
    <message>
        <source>A block plan of this run has fewer rows than its chunks.</source>
        <translation>此运行的某个块计划的行数少于其数据段的行数。</translation>
    </message>
    <message>
        <source>%1 has fewer rows than it had; it changed while the run was going.</source>
        <translation>%1 的行数比原来少；它在运行期间被改动了。</translation>
    </message>
    <message>
        <source>The list of duplicates %1 is damaged: %2.</source>
        <translation>重复文本列表 %1 已损坏：%2。</translation>
    </message>
    <message>
        <source>%1 is a link to nothing that is there.</source>
        <translation>%1 是一个指向不存在之物的链接。</translation>
    </message>
    <message>
        <source>%1 is a link to %2, which is read already, and was left out.</source>
        <translation>%1 是指向 %2 的链接，而后者已在读取之列，因此被排除。</translation>
    </message>
    <message>
        <source>%1 has %2 tokens in one of its parts, too few for a context of %3. Use more text or a shorter context.</source>
        <translation>%1 的某一部分只有 %2 个词元，对长度为 %3 的上下文来说太少。请使用更多文本或更短的上下文。</translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and none called %2</source>
        <translation>词表中没有“%1”的词元，也没有名为 %2 的词元</translation>
    </message>
    <message>
        <source>The vocabulary size %1 is outside 258 to 1,000,000.</source>
        <translation>词表大小 %1 不在 258 到 1,000,000 之间。</translation>
    </message>
    <message>
        <source>Training of the tokenizer was stopped.</source>
        <translation>分词器的训练已停止。</translation>
    </message>
    <message>
        <source>it is not a sentencepiece model</source>
        <translation>它不是 sentencepiece 模型</translation>
    </message>
    <message>
        <source>the normalizer makes the text more than 64 times as long</source>
        <translation>规范化器使文本变为原来的 64 倍以上</translation>
    </message>
    <message>
        <source>token id %1 is larger than %2</source>
        <translation>词元编号 %1 大于 %2</translation>
    </message>
    <message>
        <source>the vocabulary is empty</source>
        <translation>词表为空</translation>
    </message>
    <message>
        <source>the pattern %1 is not understood: %2</source>
        <translation>无法理解模式 %1：%2</translation>
    </message>
    <message>
        <source>the sentencepiece model has no pieces</source>
        <translation>该 sentencepiece 模型没有词片</translation>
    </message>
    <message>
        <source>line %1 is not a new &quot;base64 rank&quot; of a tiktoken file</source>
        <translation>第 %1 行不是 tiktoken 文件的新“base64 序号”</translation>
    </message>
    <message>
        <source>a tiktoken file with %1 ranks is of no known family (GPT-2, cl100k, o200k, Qwen); use its tokenizer.json</source>
        <translation>含 %1 个序号的 tiktoken 文件不属于任何已知系列（GPT-2、cl100k、o200k、Qwen）；请使用其 tokenizer.json</translation>
    </message>
    <message>
        <source>it is not valid JSON</source>
        <translation>它不是有效的 JSON</translation>
    </message>
    <message>
        <source>the vocabulary has no token for &quot;%1&quot;, and unk_id names none</source>
        <translation>词表中没有“%1”的词元，unk_id 也未指定</translation>
    </message>
    <message>
        <source>No NVIDIA driver was found: %1.</source>
        <translation>未找到 NVIDIA 驱动：%1。</translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old: %1 lacks functions of driver 450 and later.</source>
        <translation>NVIDIA 驱动过旧：%1 缺少 450 及以后驱动的函数。</translation>
    </message>
    <message>
        <source>The NVIDIA driver is installed but does not start; nvidia-smi says why.</source>
        <translation>NVIDIA 驱动已安装但无法启动；nvidia-smi 会说明原因。</translation>
    </message>
    <message>
        <source>Whether the libtorch %1 in %2 fits could not be found out: furrow-trainer was started with it, and %3. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation>无法判断 %2 中的 libtorch %1 是否匹配：furrow-trainer 已用它启动，而%3。请重试；若每次如此，`furrowctl torch install` 会安装另一个。</translation>
    </message>
    <message>
        <source>config.json: %1</source>
        <translation>config.json：%1</translation>
    </message>
    <message>
        <source>config.json is not a JSON object</source>
        <translation>config.json 不是 JSON 对象</translation>
    </message>
    <message>
        <source>%1 has another size than was written.</source>
        <translation>%1 的大小与写入时不同。</translation>
    </message>
    <message>
        <source>SHA-256 of %1 differs.</source>
        <translation>%1 的 SHA-256 不符。</translation>
    </message>
    <message>
        <source>%1 cannot be looked at (%2).</source>
        <translation>无法查看 %1（%2）。</translation>
    </message>
    <message>
        <source>%1 The run is trained by process %2, which belongs to %3. Only they, or root, can end it.</source>
        <translation>%1 此运行由属于%3的进程 %2 训练。只有其所有者或 root 能结束它。</translation>
    </message>
    <message>
        <source>The run cannot be asked to end: %1 Its supervisor, process %2, was killed and is still there: it waits for the system, as for a disk that does not answer, and ends when that does.</source>
        <translation>无法要求此运行结束：%1 其监督进程 %2 已被强制结束但仍在：它在等待系统（例如没有响应的磁盘），待其响应后即结束。</translation>
    </message>
    <message>
        <source>%1 is marked as finished already. Nothing was changed.</source>
        <translation>%1 已标记为完成。未作任何更改。</translation>
    </message>
    <message>
        <source>%1 is finished already: %2. Nothing was changed.</source>
        <translation>%1 已经完成：%2。未作任何更改。</translation>
    </message>
    <message>
        <source>its supervisor stands still</source>
        <translation>其监督进程已停住</translation>
    </message>
    <message>
        <source>%1 is finished, and nothing was started. %2</source>
        <translation>%1 已完成，未启动任何东西。%2</translation>
    </message>
    <message>
        <source>Whether furrow-worker starts with the libtorch in %1 could not be found out: %2. Try again; if it is so each time, `furrowctl torch install` brings another one.</source>
        <translation>无法判断 furrow-worker 能否用 %1 中的 libtorch 启动：%2。请重试；若每次如此，`furrowctl torch install` 会安装另一个。</translation>
    </message>
    <message>
        <source>1 row cannot be used: %1.</source>
        <translation>1 行无法使用：%1。</translation>
    </message>
    <message>
        <source>%1 rows cannot be used; the first: %2.</source>
        <translation>%1 行无法使用；第一行：%2。</translation>
    </message>
    <message>
        <source>1 sample has the text of one before it in its block, and is trained all the same.</source>
        <translation>1 个样本与其块中之前的样本文本相同，但仍会训练。</translation>
    </message>
    <message>
        <source>%1 samples have the text of one before them in their block, and are trained all the same.</source>
        <translation>%1 个样本与其块中之前的样本文本相同，但仍会训练。</translation>
    </message>
    <message>
        <source>1 sample has bytes or escapes that are not characters.</source>
        <translation>1 个样本含有不是字符的字节或转义序列。</translation>
    </message>
    <message>
        <source>%1 samples have bytes or escapes that are not characters.</source>
        <translation>%1 个样本含有不是字符的字节或转义序列。</translation>
    </message>
    <message>
        <source>The weights are being merged; no worker trains meanwhile.</source>
        <translation>正在合并权重；期间没有工作进程在训练。</translation>
    </message>
    <message>
        <source>The workers are starting; none has begun yet.</source>
        <translation>工作进程正在启动；尚无一个开始。</translation>
    </message>
    <message>
        <source>The disk of %1 is full: nothing is saved until there is room.</source>
        <translation>%1 所在的磁盘已满：在有空间之前不会保存任何内容。</translation>
    </message>
    <message>
        <source>The newest checkpoint is of %1, though one is due every %2 minutes; the logs of the workers say why. %3 trained chunks are in none.</source>
        <translation>最新的检查点是 %1 的，而每 %2 分钟就应有一个；工作进程的日志说明了原因。有 %3 个已训练的数据段不在任何检查点中。</translation>
    </message>
    <message>
        <source>not the newest weights</source>
        <translation>不是最新的权重</translation>
    </message>
    <message>
        <source>before the end of epoch %1</source>
        <translation>第 %1 轮结束之前</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 tokens that are trained too, for the data is too small to hold text out; %3</source>
        <translation>权重已训练 %1 步，在 %2 个也参与训练的词元上评估（数据太少，无法留出文本）；%3</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>waiting: enough is prepared</source>
        <translation>等待中：已准备足够</translation>
    </message>
    <message>
        <source>checking block %1</source>
        <translation>正在检查块 %1</translation>
    </message>
    <message>
        <source>waiting: the cache is full of blocks in use</source>
        <translation>等待中：缓存已被使用中的块占满</translation>
    </message>
    <message>
        <source>The merge ended with %1; see %2. The replicas are kept as they are; a resume merges them.</source>
        <translation>合并已结束（%1）；见 %2。各副本保持原样；恢复时会合并它们。</translation>
    </message>
    <message>
        <source>what worker %1 had trained since its last checkpoint could not be saved, and is trained again: %2</source>
        <translation>工作进程 %1 自上次检查点以来训练的内容无法保存，将重新训练：%2</translation>
    </message>
    <message>
        <source>this worker lost the lease: its uncommitted work was given to others</source>
        <translation>此工作进程失去了租期：其未提交的工作已交给其他进程</translation>
    </message>
    <message>
        <source>%1 is outside what a run can hold; choose larger blocks</source>
        <translation>%1 超出了一次运行的容量；请选择更大的块</translation>
    </message>
    <message>
        <source>%1 has %2 chunks; 1 to 1,000,000 are possible</source>
        <translation>%1 有 %2 个数据段；可为 1 到 1,000,000 个</translation>
    </message>
    <message>
        <source>%1 has a chunk without rows</source>
        <translation>%1 有一个没有行的数据段</translation>
    </message>
    <message>
        <source>%1 was prepared with %2 rows, which is not what its block promised</source>
        <translation>%1 准备出 %2 行，与其块应有的行数不符</translation>
    </message>
    <message>
        <source>block %1, chunk %2: the rows of a prepared chunk do not add up</source>
        <translation>块 %1，数据段 %2：已准备数据段的行数对不上</translation>
    </message>
    <message>
        <source>block %1 lies after the proven end of the data set</source>
        <translation>块 %1 位于数据集已证实的末尾之后</translation>
    </message>
    <message>
        <source>the data set ended after %1 blocks before and after %2 now: it has changed</source>
        <translation>数据集此前在 %1 个块之后结束，现在在 %2 个之后：它已改变</translation>
    </message>
    <message>
        <source>more blocks are known than the data set is said to have</source>
        <translation>已知的块多于数据集据称拥有的块</translation>
    </message>
    <message>
        <source>block %1 is not known</source>
        <translation>块 %1 未知</translation>
    </message>
    <message>
        <source>block %1 was prepared with another number of chunks</source>
        <translation>块 %1 准备出的数据段数不同</translation>
    </message>
    <message>
        <source>checkpoint folder %1 is recorded already</source>
        <translation>检查点文件夹 %1 已有记录</translation>
    </message>
    <message>
        <source>checkpoint %1 is in several contributions but not in all: they have no common base</source>
        <translation>检查点 %1 在若干而非全部贡献中：它们没有共同的起点</translation>
    </message>
    <message>
        <source>%1 was trained by two contributions; the merge is refused</source>
        <translation>%1 被两份贡献训练过；拒绝合并</translation>
    </message>
    <message>
        <source>%1 was never claimed</source>
        <translation>%1 从未被领取</translation>
    </message>
    <message>
        <source>%1: its parts overlap or do not add up; run `furrowctl audit`</source>
        <translation>%1：其各部分重叠或对不上；请运行 `furrowctl audit`</translation>
    </message>
    <message>
        <source>%1 is %2 and cannot become %3</source>
        <translation>%1 的状态为 %2，不能变为 %3</translation>
    </message>
    <message>
        <source>%1 is not %2 any more</source>
        <translation>%1 的状态不再是 %2</translation>
    </message>
    <message>
        <source>the counters of block %1 are missing; run `furrowctl audit`</source>
        <translation>块 %1 的计数缺失；请运行 `furrowctl audit`</translation>
    </message>
    <message>
        <source>a part of a joined transaction was given up</source>
        <translation>联合事务的一部分已放弃</translation>
    </message>
    <message>
        <source>%1 is listed twice in one checkpoint, or with an empty range</source>
        <translation>%1 在一个检查点中出现两次，或其范围为空</translation>
    </message>
    <message>
        <source>this worker does not hold %1 (any more)</source>
        <translation>此工作进程（已）不持有 %1</translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that this worker did not train</source>
        <translation>%1：检查点列出了此工作进程未训练的窗口</translation>
    </message>
    <message>
        <source>%1: the checkpoint lists windows that another one has already</source>
        <translation>%1：检查点列出了另一个检查点已有的窗口</translation>
    </message>
    <message>
        <source>this worker may only commit checkpoints of replica %1</source>
        <translation>此工作进程只能提交副本 %1 的检查点</translation>
    </message>
    <message>
        <source>checkpoint %1 was not made from checkpoint %2, the newest of replica %3</source>
        <translation>检查点 %1 不是由副本 %3 最新的检查点 %2 得来的</translation>
    </message>
    <message>
        <source>%1 was finished already</source>
        <translation>%1 已经完成</translation>
    </message>
    <message>
        <source>%1 belongs to run %2, this worker was started for run %3</source>
        <translation>%1 属于运行 %2，而此工作进程是为运行 %3 启动的</translation>
    </message>
    <message>
        <source>this worker has started already</source>
        <translation>此工作进程已经启动</translation>
    </message>
    <message>
        <source>attempt %1 is over; this worker came too late</source>
        <translation>第 %1 次尝试已结束；此工作进程来得太晚</translation>
    </message>
    <message>
        <source>rank %1 is being trained by process %2</source>
        <translation>进程 %2 正在训练 rank %1</translation>
    </message>
    <message>
        <source>replica %1 is being trained by process %2</source>
        <translation>进程 %2 正在训练副本 %1</translation>
    </message>
    <message>
        <source>rank %1 claims nothing: rank 0 claims for all</source>
        <translation>rank %1 不领取：由 rank 0 为所有进程领取</translation>
    </message>
    <message>
        <source>%1: the trained windows overlap or are empty</source>
        <translation>%1：已训练的窗口重叠或为空</translation>
    </message>
    <message>
        <source>%1: trained and skipped windows are not what was claimed</source>
        <translation>%1：已训练和略去的窗口与领取的不符</translation>
    </message>
    <message>
        <source>there is no merge round %1</source>
        <translation>没有合并轮 %1</translation>
    </message>
    <message>
        <source>a worker contributes its newest checkpoint (%1), not %2</source>
        <translation>工作进程应贡献其最新的检查点（%1），而不是 %2</translation>
    </message>
    <message>
        <source>merge round %1 is in other hands</source>
        <translation>合并轮 %1 由其他进程处理</translation>
    </message>
    <message>
        <source>checkpoint %1 is not among the contributions of merge round %2</source>
        <translation>检查点 %1 不在合并轮 %2 的贡献之中</translation>
    </message>
    <message>
        <source>checkpoint %1 was found damaged and cannot be merged; take the job again</source>
        <translation>检查点 %1 已损坏，无法合并；请重新领取任务</translation>
    </message>
    <message>
        <source>attempt %1 ended as failed: %2</source>
        <translation>第 %1 次尝试失败：%2</translation>
    </message>
    <message>
        <source>%1 belongs to %2. Only they, or root, can move it into the trash or out of it.</source>
        <translation>%1 属于%2。只有其所有者或 root 能将它移入或移出回收站。</translation>
    </message>
    <message>
        <source>preparing block %1</source>
        <translation>正在准备块 %1</translation>
    </message>
    <message>
        <source>%1 belongs to %2, who could not write what root makes there. Use `sudo -u %3 furrowctl ...`, or set FURROW_AS_ROOT=1 to do it as root all the same.</source>
        <translation>%1 属于%2，root 在其中创建的内容该用户将无法写入。请使用 `sudo -u %3 furrowctl ...`，或设置 FURROW_AS_ROOT=1 以 root 身份照做。</translation>
    </message>
    <message>
        <source>The environment names no home folder, so there is no place for what Furrow keeps. Set HOME.</source>
        <translation>环境变量没有指定主目录，因此没有地方存放 Furrow 保留的内容。请设置 HOME。</translation>
    </message>
    <message>
        <source>%1 is gated: accept its terms on %2 and set HF_TOKEN to a token of that account.</source>
        <translation>%1 需要授权：请在 %2 接受其条款，并把 HF_TOKEN 设为该账户的令牌。</translation>
    </message>
    <message>
        <source>%1 has no file %2. Its GGUF files: %3.</source>
        <translation>%1 没有文件 %2。它的 GGUF 文件有：%3。</translation>
    </message>
    <message>
        <source>%1 has no config.json, so it is not a text model.</source>
        <translation>%1 没有 config.json，因此不是文本模型。</translation>
    </message>
    <message>
        <source>%1 keeps GGUF files: %2. Name one, as %3/FILE.gguf.</source>
        <translation>%1 中是 GGUF 文件：%2。请指定其中一个，例如 %3/FILE.gguf。</translation>
    </message>
    <message>
        <source>%1 has no safetensors. Weights in other formats (pytorch_model.bin) are programs that run when they are read, and are not taken; look for a copy of the model with safetensors.</source>
        <translation>%1 没有 safetensors。其他格式的权重（pytorch_model.bin）是读取时会运行的程序，因此不予采用；请寻找带有 safetensors 的模型副本。</translation>
    </message>
    <message>
        <source>%1 of %2 has %3, which no such file has.</source>
        <translation>%2 的 %1 有 %3，这类文件不会有这么大。</translation>
    </message>
    <message>
        <source>%1 has %2 files, more than any model.</source>
        <translation>%1 有 %2 个文件，比任何模型都多。</translation>
    </message>
    <message>
        <source>%1 The copy that was fetched before is taken: %2</source>
        <translation>%1 现使用以前下载的副本：%2</translation>
    </message>
    <message>
        <source>fetching a model was interrupted</source>
        <translation>模型的下载被中断</translation>
    </message>
    <message>
        <source>%1 is being fetched by %2; this process waits until that has ended.</source>
        <translation>%2 正在下载 %1；本进程等待其完成。</translation>
    </message>
    <message>
        <source>%1 has %2 free and %3 are needed for %4. Make room, or set XDG_DATA_HOME to a folder on a larger disk.</source>
        <translation>%1 有 %2 可用空间，而 %4 需要 %3。请腾出空间，或把 XDG_DATA_HOME 设为较大磁盘上的文件夹。</translation>
    </message>
    <message>
        <source>%1 is not a model of the hub. Write hf://owner/name, hf://owner/name/FILE.gguf or hf://owner/name@revision.</source>
        <translation>%1 不是 Hub 上的模型。请写 hf://owner/name、hf://owner/name/FILE.gguf 或 hf://owner/name@revision。</translation>
    </message>
    <message>
        <source>it has no text under &apos;question&apos;, &apos;query&apos;, &apos;prompt&apos;, &apos;context&apos;, &apos;ctx&apos; or &apos;input&apos;</source>
        <translation>它在“question”、“query”、“prompt”、“context”、“ctx”或“input”下没有文本</translation>
    </message>
    <message>
        <source>its choices are not a list of two or more texts</source>
        <translation>它的选项不是由两个或更多文本组成的列表</translation>
    </message>
    <message>
        <source>no choice is named by its &apos;gold&apos;, &apos;answer&apos;, &apos;label&apos;, &apos;answerKey&apos; or &apos;target&apos;</source>
        <translation>它的“gold”、“answer”、“label”、“answerKey”或“target”没有指明任何选项</translation>
    </message>
    <message>
        <source>it has neither choices nor a text under &apos;answer&apos;, &apos;target&apos; or &apos;output&apos;</source>
        <translation>它既没有选项，在“answer”、“target”或“output”下也没有文本</translation>
    </message>
    <message>
        <source>it is not UTF-8</source>
        <translation>它不是 UTF-8</translation>
    </message>
    <message>
        <source>it is broken JSON</source>
        <translation>它是损坏的 JSON</translation>
    </message>
    <message>
        <source>line %1 of %2: %3</source>
        <translation>%2 的第 %1 行：%3</translation>
    </message>
    <message>
        <source>Line %1 of %2 is of another kind than line %3: some questions have choices, others an answer to be written. Put them into two files.</source>
        <translation>%2 的第 %1 行与第 %3 行类型不同：有的问题有选项，有的要写出答案。请把它们放进两个文件。</translation>
    </message>
    <message>
        <source>%1 holds no questions.</source>
        <translation>%1 中没有问题。</translation>
    </message>
    <message>
        <source>No line of %1 is a question. The first: %2.</source>
        <translation>%1 中没有一行是问题。第一行：%2。</translation>
    </message>
    <message>
        <source>%1 is a model of the hub and not on this machine yet. &apos;furrowctl model fetch&apos; brings it; then name the folder that this prints.</source>
        <translation>%1 是 Hub 上的模型，尚不在本机。“furrowctl model fetch”可以下载它；然后请指定它所显示的文件夹。</translation>
    </message>
    <message>
        <source>%1 was moved to %2 while the run was being trained, so the attempt ends. Resume it there.</source>
        <translation>训练期间 %1 被移动到了 %2，因此本次尝试结束。请在那里恢复。</translation>
    </message>
    <message>
        <source>%1 was deleted while the run was being trained, so the attempt ends.</source>
        <translation>训练期间 %1 被删除，因此本次尝试结束。</translation>
    </message>
    <message>
        <source>The run has ended: %1.</source>
        <translation>运行已结束：%1。</translation>
    </message>
    <message>
        <source>the supervisor stands still</source>
        <translation>监督进程停住了</translation>
    </message>
    <message>
        <source>worker %1 stands still</source>
        <translation>工作进程 %1 停住了</translation>
    </message>
    <message>
        <source>the tracker is locked</source>
        <translation>账本已被锁定</translation>
    </message>
    <message>
        <source>its disk is full</source>
        <translation>其磁盘已满</translation>
    </message>
    <message>
        <source>%1 is not there. Is its disk mounted?</source>
        <translation>%1 不在。其磁盘挂载了吗？</translation>
    </message>
    <message>
        <source>%1 questions are to be shown with their answers, but there are %2 in all, and none would be left.</source>
        <translation>要连同答案展示 %1 个问题，但总共只有 %2 个，不会有剩余。</translation>
    </message>
    <message>
        <source>A model without a run has no evaluation text. Name one with --data, or questions with --tasks.</source>
        <translation>没有运行的模型没有评估文本。请用 --data 指定文本，或用 --tasks 指定问题。</translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3</source>
        <translation>正在下载 %1：%2 个文件，%3</translation>
    </message>
    <message>
        <source>Fetching %1: %2 files, %3, of which %4 are here</source>
        <translation>正在下载 %1：%2 个文件，%3，其中 %4 已在本机</translation>
    </message>
    <message>
        <source>cannot make a pipe</source>
        <translation>无法创建管道</translation>
    </message>
    <message>
        <source>the process does not read its input</source>
        <translation>该进程不读取其输入</translation>
    </message>
    <message>
        <source>cannot start %1: the system allows no more processes</source>
        <translation>无法启动 %1：系统不允许更多进程</translation>
    </message>
    <message>
        <source>%1 was killed while it was started</source>
        <translation>%1 在启动时被强制结束</translation>
    </message>
    <message>
        <source>libcurl could not be started</source>
        <translation>无法启动 libcurl</translation>
    </message>
    <message>
        <source>Reading was stopped.</source>
        <translation>读取已停止。</translation>
    </message>
    <message>
        <source>reading after the end of a file inside an archive</source>
        <translation>读取超出了归档内文件的末尾</translation>
    </message>
    <message>
        <source>reading after the end of what is in memory</source>
        <translation>读取超出了内存内容的末尾</translation>
    </message>
    <message>
        <source>%1 is shorter than it was.</source>
        <translation>%1 比原来短。</translation>
    </message>
    <message>
        <source>ICU has lost a converter</source>
        <translation>ICU 丢失了一个转换器</translation>
    </message>
    <message>
        <source>ICU cannot convert: %1</source>
        <translation>ICU 无法转换：%1</translation>
    </message>
    <message>
        <source>init_from could not be checked: furrow-worker ended with %1.</source>
        <translation>无法检查 init_from：furrow-worker 已结束（%1）。</translation>
    </message>
    <message>
        <source>no answer in ten minutes</source>
        <translation>十分钟内没有应答</translation>
    </message>
    <message>
        <source>%1 cannot be written: the run opens without its cache</source>
        <translation>无法写入 %1：运行将在没有缓存的情况下打开</translation>
    </message>
    <message>
        <source>%1 is not a cache of this version</source>
        <translation>%1 不是此版本的缓存</translation>
    </message>
    <message>
        <source>%1 is cut</source>
        <translation>%1 被截断</translation>
    </message>
    <message>
        <source>%1: checksum differs</source>
        <translation>%1：校验和不一致</translation>
    </message>
    <message>
        <source>zlib could not be started</source>
        <translation>无法启动 zlib</translation>
    </message>
    <message>
        <source>the debug bundle could not be compressed</source>
        <translation>无法压缩调试包</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not the name of a shipped file</source>
        <translation>“%1”不是随附文件的名称</translation>
    </message>
    <message>
        <source>%1 cannot be loaded (Windows error %2)</source>
        <translation>无法加载 %1（Windows 错误 %2）</translation>
    </message>
    <message>
        <source>the chat template writes something else %1 than in the whole conversation, from byte %2 on (%3, %4), so what the assistant writes cannot be told</source>
        <translation>对话模板%1写出的内容与整个对话中的不同，从第 %2 字节起（%3，%4），因此无法得知助手写了什么</translation>
    </message>
    <message>
        <source>is refused: %1</source>
        <translation>被拒绝：%1</translation>
    </message>
    <message>
        <source>data-parallel training: the ranks lost one another: %1; %2</source>
        <translation>数据并行训练：各 rank 失去了彼此的联系：%1；%2</translation>
    </message>
    <message>
        <source>data-parallel training: no meeting through %1: %2</source>
        <translation>数据并行训练：无法通过 %1 会合：%2</translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without NCCL and cannot sum on GPUs. Train on the CPU (devices cpu:2), set parallel to independent, or build with the CUDA wheel of libtorch.</source>
        <translation>parallel 为 data，但此 furrow-worker 构建时未包含 NCCL，无法在 GPU 上求和。请在 CPU 上训练（devices cpu:2），将 parallel 设为 independent，或用 libtorch 的 CUDA wheel 构建。</translation>
    </message>
    <message>
        <source>parallel is data, but this furrow-worker was built without Gloo&apos;s headers. Set parallel to independent, or install libgloo-dev and build again.</source>
        <translation>parallel 为 data，但此 furrow-worker 构建时没有 Gloo 的头文件。请将 parallel 设为 independent，或安装 libgloo-dev 后重新构建。</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 和 %2</translation>
    </message>
    <message>
        <source>rank %1 (worker %2)</source>
        <translation>rank %1（工作进程 %2）</translation>
    </message>
    <message>
        <source>%1 of %2 did not come to the meeting within %3 s. All ranks end and start again together from the last checkpoint.</source>
        <translation>共 %2 个 rank，其中 %1 未在 %3 秒内到场。所有 rank 都会结束，并一起从最后的检查点重新开始。</translation>
    </message>
    <message>
        <source>rank %1 (worker %2, process %3)</source>
        <translation>rank %1（工作进程 %2，进程 %3）</translation>
    </message>
    <message>
        <source>%1 ended: %2</source>
        <translation>%1 已结束：%2</translation>
    </message>
    <message>
        <source>%1 is gone.</source>
        <translation>%1 已不存在。</translation>
    </message>
    <message>
        <source>%1 are gone.</source>
        <translation>%1 已不存在。</translation>
    </message>
    <message>
        <source>%1 does not take part any more: it stands still or hangs.</source>
        <translation>%1 不再参与：已停顿或挂起。</translation>
    </message>
    <message>
        <source>%1 do not take part any more: they stand still or hang.</source>
        <translation>%1 不再参与：已停顿或挂起。</translation>
    </message>
    <message>
        <source>the ranks lost one another, and each of them is alive: %1.</source>
        <translation>各 rank 失去了彼此的联系，而它们都还在运行：%1。</translation>
    </message>
    <message>
        <source>%1 left a collective call out: it is at exchange %2 after %3 sums, another rank at exchange %4 after %5.</source>
        <translation>%1 漏掉了一次集合调用：它在第 %2 次交换、%3 次求和之后，另一 rank 在第 %4 次交换、%5 次求和之后。</translation>
    </message>
    <message>
        <source>data-parallel training, rank %1 of %2: %3 All ranks end and start again together from the last checkpoint.</source>
        <translation>数据并行训练，rank %1（共 %2 个）：%3 所有 rank 都会结束，并一起从最后的检查点重新开始。</translation>
    </message>
    <message>
        <source>%1 belongs to another version of Furrow. Install Furrow again, so that all of its files are of one version.</source>
        <translation>%1 属于另一版本的 Furrow。请重新安装 Furrow，使所有文件属于同一版本。</translation>
    </message>
    <message>
        <source>its end is missing</source>
        <translation>缺少结尾</translation>
    </message>
    <message>
        <source>its chunk table is not where it should be</source>
        <translation>数据段表不在应有的位置</translation>
    </message>
    <message>
        <source>the checksum of its chunk table differs</source>
        <translation>数据段表的校验和不符</translation>
    </message>
    <message>
        <source>it is too short</source>
        <translation>它太短</translation>
    </message>
    <message>
        <source>it does not begin as one</source>
        <translation>开头不符</translation>
    </message>
    <message>
        <source>the checksum of its header differs</source>
        <translation>文件头的校验和不符</translation>
    </message>
    <message>
        <source>it is too short for its chunks</source>
        <translation>对其数据段而言太短</translation>
    </message>
    <message>
        <source>its chunk table is too short</source>
        <translation>数据段表太短</translation>
    </message>
    <message>
        <source>a chunk is not where it should be</source>
        <translation>有数据段不在应有的位置</translation>
    </message>
    <message>
        <source>its chunks do not fill it</source>
        <translation>其数据段没有填满它</translation>
    </message>
    <message>
        <source>its list of unreadable rows cannot be read</source>
        <translation>无法读取其不可读行的列表</translation>
    </message>
    <message>
        <source>the checksum of a chunk differs</source>
        <translation>某个数据段的校验和不符</translation>
    </message>
    <message>
        <source>the samples of a chunk do not add up</source>
        <translation>某个数据段的样本数不符</translation>
    </message>
    <message>
        <source>its SHA-256 differs</source>
        <translation>其 SHA-256 不符</translation>
    </message>
    <message>
        <source>its table is not where it should be</source>
        <translation>其表不在应有的位置</translation>
    </message>
    <message>
        <source>the checksum of its table differs</source>
        <translation>其表的校验和不符</translation>
    </message>
    <message>
        <source>its table is too short</source>
        <translation>其表太短</translation>
    </message>
    <message>
        <source>its rows do not add up</source>
        <translation>其行数不符</translation>
    </message>
    <message>
        <source>the checksum of a page differs</source>
        <translation>某一页的校验和不符</translation>
    </message>
    <message>
        <source>it names a row that it does not have</source>
        <translation>它提到了并不存在的行</translation>
    </message>
    <message>
        <source>the evaluation text</source>
        <translation>评估文本</translation>
    </message>
    <message>
        <source>Line %1 of the quarantine list, &quot;%2&quot;, %3</source>
        <translation>隔离清单第 %1 行“%2”%3</translation>
    </message>
    <message>
        <source>names no chunk: write chunk BLOCK:COLUMN.</source>
        <translation>没有指明数据段：请写 chunk 块:列。</translation>
    </message>
    <message>
        <source>names no sample: write sample and its fingerprint of 16 hex digits.</source>
        <translation>没有指明样本：请写 sample 及其 16 位十六进制指纹。</translation>
    </message>
    <message>
        <source>is pattern number %1, more than a list may have. Join some with |.</source>
        <translation>是第 %1 个模式，超过一个列表的上限。请用 | 合并其中一些。</translation>
    </message>
    <message>
        <source>holds no regular expression (%1).</source>
        <translation>不含正则表达式（%1）。</translation>
    </message>
    <message>
        <source>begins with none of chunk, sample, pattern.</source>
        <translation>不以 chunk、sample 或 pattern 开头。</translation>
    </message>
    <message>
        <source>reading the quarantine list</source>
        <translation>读取隔离清单时</translation>
    </message>
    <message>
        <source>no message where one should be</source>
        <translation>应有消息之处没有消息</translation>
    </message>
    <message>
        <source>a message that cannot be read</source>
        <translation>有无法读取的消息</translation>
    </message>
    <message>
        <source>a size that is not a number</source>
        <translation>大小不是数字</translation>
    </message>
    <message>
        <source>no header where one should be</source>
        <translation>应有文件头之处没有文件头</translation>
    </message>
    <message>
        <source>a name of more than 64 KiB</source>
        <translation>名称超过 64 KiB</translation>
    </message>
    <message>
        <source>an extended header of more than 1 MiB</source>
        <translation>扩展头超过 1 MiB</translation>
    </message>
    <message>
        <source>an extended header that cannot be read</source>
        <translation>有无法读取的扩展头</translation>
    </message>
    <message>
        <source>a place after its end</source>
        <translation>位置在文件末尾之后</translation>
    </message>
    <message>
        <source>a place that holds none (zip64)</source>
        <translation>该位置没有目录（zip64）</translation>
    </message>
    <message>
        <source>another size than it has</source>
        <translation>大小与实际不符</translation>
    </message>
    <message>
        <source>fewer files than it counts</source>
        <translation>文件比所计的少</translation>
    </message>
    <message>
        <source>a size without its value (zip64)</source>
        <translation>大小缺少数值（zip64）</translation>
    </message>
    <message>
        <source>a file where another one stands</source>
        <translation>文件的位置上是另一个文件</translation>
    </message>
    <message>
        <source>a file that is longer than the archive</source>
        <translation>文件比归档还长</translation>
    </message>
    <message>
        <source>two files in one place</source>
        <translation>两个文件在同一位置</translation>
    </message>
    <message>
        <source>it is not a definition of one</source>
        <translation>它不是其定义</translation>
    </message>
    <message>
        <source>its version is not 1; a newer Furrow wrote it</source>
        <translation>其版本不是 1；由更新版本的 Furrow 写出</translation>
    </message>
    <message>
        <source>fallback or code_points is missing</source>
        <translation>缺少 fallback 或 code_points</translation>
    </message>
    <message>
        <source>code_points must be ascending code points</source>
        <translation>code_points 必须是递增的码位</translation>
    </message>
    <message>
        <source>a Replace has no pattern</source>
        <translation>有 Replace 缺少模式</translation>
    </message>
    <message>
        <source>the decoder %1 is not supported; supported are ByteLevel, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, Replace and Sequence</source>
        <translation>不支持解码器 %1；支持 ByteLevel、WordPiece、ByteFallback、Fuse、Strip、Metaspace、BPEDecoder、Replace 和 Sequence</translation>
    </message>
    <message>
        <source>model.vocab is missing or not an object</source>
        <translation>model.vocab 缺失或不是对象</translation>
    </message>
    <message>
        <source>model.vocab: the id of &quot;%1&quot; is not a number from 0 to %2</source>
        <translation>model.vocab：“%1”的 id 不是 0 到 %2 的数</translation>
    </message>
    <message>
        <source>model.vocab: two tokens have the id %1</source>
        <translation>model.vocab：有两个词元的 id 都是 %1</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is not a pair</source>
        <translation>model.merges：“%1”不是一对</translation>
    </message>
    <message>
        <source>model.merges: an entry is not a pair</source>
        <translation>model.merges：有一项不是一对</translation>
    </message>
    <message>
        <source>model.merges is missing or not a list</source>
        <translation>model.merges 缺失或不是列表</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; is shorter than the prefix of what continues a word</source>
        <translation>model.merges：“%1”比续词前缀还短</translation>
    </message>
    <message>
        <source>model.merges: &quot;%1&quot; + &quot;%2&quot; or its parts are not in the vocabulary</source>
        <translation>model.merges：“%1”+“%2”或其组成部分不在词表中</translation>
    </message>
    <message>
        <source>it has dropout, which makes ids random</source>
        <translation>它带有 dropout，会使 id 随机</translation>
    </message>
    <message>
        <source>the texts of its vocabulary are longer than 16 MiB together</source>
        <translation>其词表文本合计超过 16 MiB</translation>
    </message>
    <message>
        <source>a token of its vocabulary is longer than 4096 bytes</source>
        <translation>其词表中有词元超过 4096 字节</translation>
    </message>
    <message>
        <source>model.max_input_chars_per_word is not a number</source>
        <translation>model.max_input_chars_per_word 不是数字</translation>
    </message>
    <message>
        <source>model.vocab is missing or not a list</source>
        <translation>model.vocab 缺失或不是列表</translation>
    </message>
    <message>
        <source>model.vocab: entry %1 is not a token with its score</source>
        <translation>model.vocab：第 %1 项不是词元及其分数</translation>
    </message>
    <message>
        <source>model.vocab: &quot;%1&quot; is there twice</source>
        <translation>model.vocab：“%1”出现了两次</translation>
    </message>
    <message>
        <source>model.unk_id is not an id of the vocabulary</source>
        <translation>model.unk_id 不是词表中的 id</translation>
    </message>
    <message>
        <source>its model type is %1, supported are BPE, WordPiece, WordLevel and Unigram</source>
        <translation>其模型类型为 %1；支持 BPE、WordPiece、WordLevel 和 Unigram</translation>
    </message>
    <message>
        <source>precompiled_charsmap is not base64</source>
        <translation>precompiled_charsmap 不是 base64</translation>
    </message>
    <message>
        <source>the normalizer %1 is not supported; supported are NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel and Sequence</source>
        <translation>不支持规范化器 %1；支持 NFC、NFD、NFKC、NFKD、Lowercase、Strip、StripAccents、Replace、Prepend、BertNormalizer、Nmt、Precompiled、ByteLevel 和 Sequence</translation>
    </message>
    <message>
        <source>the split behaviour &quot;%1&quot; is not known</source>
        <translation>未知的切分方式“%1”</translation>
    </message>
    <message>
        <source>a Split has no pattern</source>
        <translation>有 Split 缺少模式</translation>
    </message>
    <message>
        <source>the length of FixedLength is not a number above 0</source>
        <translation>FixedLength 的长度不是大于 0 的数</translation>
    </message>
    <message>
        <source>the delimiter of CharDelimiterSplit is not one character</source>
        <translation>CharDelimiterSplit 的分隔符不是单个字符</translation>
    </message>
    <message>
        <source>the pre-tokenizer %1 is not supported; supported are ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts and Sequence</source>
        <translation>不支持预分词器 %1；支持 ByteLevel、Split、Digits、Metaspace、Whitespace、WhitespaceSplit、Punctuation、BertPreTokenizer、CharDelimiterSplit、FixedLength、UnicodeScripts 和 Sequence</translation>
    </message>
    <message>
        <source>precompiled_charsmap: %1</source>
        <translation>precompiled_charsmap：%1</translation>
    </message>
    <message>
        <source>its array is cut or too long</source>
        <translation>其数组被截断或太长</translation>
    </message>
    <message>
        <source>its texts are not UTF-8</source>
        <translation>其文本不是 UTF-8</translation>
    </message>
    <message>
        <source>it matches backwards</source>
        <translation>它反向匹配</translation>
    </message>
    <message>
        <source>it is longer than 64 KiB</source>
        <translation>它超过 64 KiB</translation>
    </message>
    <message>
        <source>%1 is not known to match as in the tokenizers library</source>
        <translation>无法确定 %1 的匹配与 tokenizers 库一致</translation>
    </message>
    <message>
        <source>tokenizer %1</source>
        <translation>分词器 %1</translation>
    </message>
    <message>
        <source>tokenizer gpt2</source>
        <translation>分词器 gpt2</translation>
    </message>
    <message>
        <source>%1 are more than %2</source>
        <translation>%1 超过 %2 个</translation>
    </message>
    <message>
        <source>a Metaspace with prepend_scheme first after another pre-tokenizer and a normalizer is not supported</source>
        <translation>不支持位于另一预分词器和规范化器之后、prepend_scheme 为 first 的 Metaspace</translation>
    </message>
    <message>
        <source>added_tokens: an entry has no id from 0 to %1</source>
        <translation>added_tokens：有一项没有 0 到 %1 的 id</translation>
    </message>
    <message>
        <source>added_tokens: &quot;%1&quot; has the id %2, and the tokenizers library gives it %3</source>
        <translation>added_tokens：“%1”的 id 为 %2，而 tokenizers 库给出 %3</translation>
    </message>
    <message>
        <source>a Sequence has no list %1</source>
        <translation>有 Sequence 缺少列表 %1</translation>
    </message>
    <message>
        <source>it is larger than 64 MiB</source>
        <translation>它大于 64 MiB</translation>
    </message>
    <message>
        <source>it has no model</source>
        <translation>它没有模型</translation>
    </message>
    <message>
        <source>reading the checkpoints</source>
        <translation>读取检查点时</translation>
    </message>
    <message>
        <source>repairing %1</source>
        <translation>修复 %1 时</translation>
    </message>
    <message>
        <source>SHA-256 of manifest.json differs from the tracker&apos;s.</source>
        <translation>manifest.json 的 SHA-256 与账本中的不同。</translation>
    </message>
    <message>
        <source>it belongs to run %1.</source>
        <translation>它属于运行 %1。</translation>
    </message>
    <message>
        <source>starting the supervisor</source>
        <translation>启动监督进程时</translation>
    </message>
    <message>
        <source>freeing the claims of dead workers</source>
        <translation>释放已终止工作进程的领取时</translation>
    </message>
    <message>
        <source>taking checkpoints back</source>
        <translation>收回检查点时</translation>
    </message>
    <message>
        <source>verifying checkpoints</source>
        <translation>验证检查点时</translation>
    </message>
    <message>
        <source>removing leftovers</source>
        <translation>清除残留时</translation>
    </message>
    <message>
        <source>starting the merge</source>
        <translation>启动合并时</translation>
    </message>
    <message>
        <source>starting the feeder</source>
        <translation>启动供数进程时</translation>
    </message>
    <message>
        <source>starting worker %1</source>
        <translation>启动工作进程 %1 时</translation>
    </message>
    <message>
        <source>writing telemetry</source>
        <translation>写入遥测数据时</translation>
    </message>
    <message>
        <source>auditing</source>
        <translation>审计时</translation>
    </message>
    <message>
        <source>the tracker was rebuilt</source>
        <translation>账本已重建</translation>
    </message>
    <message>
        <source>not proven when the tracker was rebuilt</source>
        <translation>重建账本时未得到证实</translation>
    </message>
    <message>
        <source>rebuilding the tracker</source>
        <translation>重建账本时</translation>
    </message>
    <message>
        <source>opening epoch %1</source>
        <translation>打开第 %1 轮时</translation>
    </message>
    <message>
        <source>keeping a copy before the tracker is migrated</source>
        <translation>迁移账本前保存副本时</translation>
    </message>
    <message>
        <source>migrating the tracker to version %1</source>
        <translation>将账本迁移到版本 %1 时</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>its numbers add up to more than any run has</source>
        <translation>其数字之和超过任何运行可能有的值</translation>
    </message>
    <message>
        <source>syncing the WAL</source>
        <translation>同步 WAL 时</translation>
    </message>
    <message>
        <source>creating the tracker</source>
        <translation>创建账本时</translation>
    </message>
    <message>
        <source>beginning an attempt</source>
        <translation>开始一次尝试时</translation>
    </message>
    <message>
        <source>revoking a worker</source>
        <translation>撤销工作进程时</translation>
    </message>
    <message>
        <source>advancing the epoch</source>
        <translation>推进轮次时</translation>
    </message>
    <message>
        <source>publishing a snapshot of the tracker</source>
        <translation>发布账本快照时</translation>
    </message>
    <message>
        <source>taking a damaged checkpoint out</source>
        <translation>移除损坏的检查点时</translation>
    </message>
    <message>
        <source>taking a checkpoint back</source>
        <translation>收回检查点时</translation>
    </message>
    <message>
        <source>left out: the run went back to %1</source>
        <translation>已略去：运行回到了 %1</translation>
    </message>
    <message>
        <source>going back to %1</source>
        <translation>回到 %1 时</translation>
    </message>
    <message>
        <source>opening a merge round</source>
        <translation>打开合并轮时</translation>
    </message>
    <message>
        <source>reading what a checkpoint was trained on</source>
        <translation>读取检查点的训练内容时</translation>
    </message>
    <message>
        <source>keeping the plan of the learning rate</source>
        <translation>保存学习率计划时</translation>
    </message>
    <message>
        <source>committing checkpoint %1</source>
        <translation>提交检查点 %1 时</translation>
    </message>
    <message>
        <source>its process is gone</source>
        <translation>其进程已不存在</translation>
    </message>
    <message>
        <source>claiming a chunk</source>
        <translation>领取数据段时</translation>
    </message>
    <message>
        <source>finishing %1</source>
        <translation>完成 %1 时</translation>
    </message>
    <message>
        <source>left out of merge round %1</source>
        <translation>未计入合并轮 %1</translation>
    </message>
    <message>
        <source>committing merge round %1</source>
        <translation>提交合并轮 %1 时</translation>
    </message>
    <message>
        <source>writing checkpoint %1</source>
        <translation>写入检查点 %1 时</translation>
    </message>
    <message>
        <source>opening block %1</source>
        <translation>打开块 %1 时</translation>
    </message>
    <message>
        <source>block %1: the prepared file is not the one that the tracker recorded</source>
        <translation>块 %1：准备好的文件不是账本所记录的那个</translation>
    </message>
    <message>
        <source>block %1 has no chunk %2</source>
        <translation>块 %1 没有数据段 %2</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>读取 %1 时</translation>
    </message>
    <message>
        <source>looking up block %1</source>
        <translation>查找块 %1 时</translation>
    </message>
    <message>
        <source>%1 packs into %2 windows, the tracker says %3</source>
        <translation>%1 打包成 %2 个窗口，账本所记为 %3</translation>
    </message>
    <message>
        <source>these are not the weights of the counting model</source>
        <translation>这些不是计数模型的权重</translation>
    </message>
    <message>
        <source>evaluating: %1</source>
        <translation>评估时：%1</translation>
    </message>
    <message>
        <source>training %1 on %2 (at most %3 in use): %4</source>
        <translation>在 %2 上训练 %1 时（最多占用 %3）：%4</translation>
    </message>
    <message>
        <source>the GPUs cannot be used: %1</source>
        <translation>无法使用 GPU：%1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>no memory left on the host</source>
        <translation>主机内存不足</translation>
    </message>
    <message>
        <source>training %1: %2</source>
        <translation>训练 %1 时：%2</translation>
    </message>
    <message>
        <source>Checkpoint %1 has NaN or Inf in its weights.</source>
        <translation>检查点 %1 的权重中含有 NaN 或 Inf。</translation>
    </message>
    <message>
        <source>Checkpoint %1 does not grow from the base of %2.</source>
        <translation>检查点 %1 不是由 %2 的起点训练而来。</translation>
    </message>
    <message>
        <source>Checkpoint %1 stands beside other frozen weights than the replica that merges.</source>
        <translation>检查点 %1 所依的冻结权重与执行合并的副本不同。</translation>
    </message>
    <message>
        <source>it has %1 tensors, not %2</source>
        <translation>它有 %1 个张量，而不是 %2 个</translation>
    </message>
    <message>
        <source>tensor %1 has no equal of its shape there</source>
        <translation>张量 %1 在那里没有形状相同的对应项</translation>
    </message>
    <message>
        <source>precision is fp16, which needs a GPU; allowed on this device are auto, fp32, bf16</source>
        <translation>precision 为 fp16，需要 GPU；此设备可用 auto、fp32、bf16</translation>
    </message>
    <message>
        <source>device is %1, but this machine has no usable GPU; choose cpu</source>
        <translation>device 为 %1，但本机没有可用的 GPU；请选择 cpu</translation>
    </message>
    <message>
        <source>weights and gradients of %1 do not fit on %2; lower layers, width or vocabulary</source>
        <translation>%1 的权重和梯度放不进 %2；请减小层数、宽度或词表</translation>
    </message>
    <message>
        <source>creating the model: %1</source>
        <translation>创建模型时：%1</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is missing in the saved optimizer state</source>
        <translation>保存的优化器状态中缺少张量“%1”</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state has another shape or type than this optimizer needs</source>
        <translation>保存的优化器状态中张量“%1”的形状或类型与此优化器所需的不同</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; of the saved optimizer state is unknown to this optimizer</source>
        <translation>此优化器不认识保存状态中的张量“%1”</translation>
    </message>
    <message>
        <source>sampling: %1</source>
        <translation>生成文本时：%1</translation>
    </message>
    <message>
        <source>the benchmark was stopped before its first step</source>
        <translation>基准测试在第一步之前已停止</translation>
    </message>
    <message>
        <source>fit was stopped</source>
        <translation>fit 已停止</translation>
    </message>
    <message>
        <source>the benchmark was stopped</source>
        <translation>基准测试已停止</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;</source>
        <translation>张量“%1”</translation>
    </message>
    <message>
        <source>importing %1: %2</source>
        <translation>导入 %1 时：%2</translation>
    </message>
    <message>
        <source>exporting to %1: %2</source>
        <translation>导出到 %1 时：%2</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has a type that safetensors cannot hold</source>
        <translation>张量“%1”的类型无法存入 safetensors</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; was given twice</source>
        <translation>张量“%1”给出了两次</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has no usable dtype, shape and data_offsets</source>
        <translation>张量“%1”没有可用的 dtype、shape 和 data_offsets</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has type &apos;%2&apos;, which is not supported</source>
        <translation>张量“%1”的类型为“%2”，不受支持</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; has an impossible shape</source>
        <translation>张量“%1”的形状不可能成立</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos;: shape and type need %2 bytes, but its offsets give another size</source>
        <translation>张量“%1”：形状和类型需要 %2 字节，但其偏移给出另一大小</translation>
    </message>
    <message>
        <source>the header is not a JSON object</source>
        <translation>文件头不是 JSON 对象</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; is listed twice</source>
        <translation>张量“%1”列出了两次</translation>
    </message>
    <message>
        <source>the header lists more than a million tensors</source>
        <translation>文件头列出的张量超过一百万个</translation>
    </message>
    <message>
        <source>__metadata__ is not an object</source>
        <translation>__metadata__ 不是对象</translation>
    </message>
    <message>
        <source>__metadata__ &apos;%1&apos; is not a string</source>
        <translation>__metadata__ 的“%1”不是字符串</translation>
    </message>
    <message>
        <source>tensor &apos;%1&apos; overlaps another one or leaves a gap</source>
        <translation>张量“%1”与另一张量重叠或留有空隙</translation>
    </message>
    <message>
        <source>the file holds %1 bytes of data, its header describes %2</source>
        <translation>文件含有 %1 字节数据，文件头描述的是 %2</translation>
    </message>
    <message>
        <source>the file is too short for safetensors</source>
        <translation>文件对 safetensors 来说太短</translation>
    </message>
    <message>
        <source>the header length %1 is impossible for this file</source>
        <translation>文件头长度 %1 对此文件不可能成立</translation>
    </message>
    <message>
        <source>writing safetensors: %1</source>
        <translation>写入 safetensors 时：%1</translation>
    </message>
    <message>
        <source>writing %1</source>
        <translation>写入 %1 时</translation>
    </message>
    <message>
        <source>reading %1: %2</source>
        <translation>读取 %1 时：%2</translation>
    </message>
    <message>
        <source>before this message</source>
        <translation>在此消息之前</translation>
    </message>
    <message>
        <source>where this message is the last</source>
        <translation>在此消息为最后一条时</translation>
    </message>
    <message>
        <source>%1 does not hold the questions this run began with (its SHA-256 differs): answers to it cannot be compared with those before. Put the original file back.</source>
        <translation>%1 中不是此运行开始时的问题（SHA-256 不同）：对它的回答无法与之前的比较。请放回原来的文件。</translation>
    </message>
    <message>
        <source>Lines of %1 that are not questions and are left out: %2. The first: %3.</source>
        <translation>%1 中不是问题而被略去的行：%2。第一个：%3。</translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of these (%2 of their %3 samples), which is kept: only the rest is trained again.</source>
        <translation>检查点中已有其中 %1 个的一部分（%3 个样本中的 %2 个），这部分会保留：只重新训练其余部分。</translation>
    </message>
    <message>
        <source>accuracy %1 %, by length %2 %, where guessing gets %3 %</source>
        <translation>正确率 %1 %，按长度 %2 %；猜测可得 %3 %</translation>
    </message>
    <message>
        <source>exact match %1 %</source>
        <translation>完全匹配 %1 %</translation>
    </message>
    <message>
        <source>the merge</source>
        <translation>合并结果</translation>
    </message>
    <message>
        <source>%1; of %2 questions, by weights with %3 steps, %4</source>
        <translation>%1；共 %2 个问题，权重有 %3 步，%4</translation>
    </message>
    <message>
        <source>The questions of eval_tasks could not be answered: %1</source>
        <translation>无法回答 eval_tasks 的问题：%1</translation>
    </message>
    <message>
        <source>a line of the input is not a JSON object</source>
        <translation>输入中的一行不是 JSON 对象</translation>
    </message>
    <message>
        <source>a line of the input has no text under &apos;%1&apos;</source>
        <translation>输入中的一行在“%1”下没有文本</translation>
    </message>
    <message>
        <source>(From here on: %1)</source>
        <translation>（从此处起：%1）</translation>
    </message>
    <message>
        <source>asking questions: %1</source>
        <translation>提问时出错：%1</translation>
    </message>
    <message>
        <source>The run of the benchmark is %1: %2</source>
        <translation>基准测试的运行处于状态 %1：%2</translation>
    </message>
    <message>
        <source>The run of the benchmark ended with %1. What it said is in %2.</source>
        <translation>基准测试的运行已结束（%1）。其输出在 %2 中。</translation>
    </message>
    <message>
        <source>%1 does not say where the time went: the worker did not end cleanly.</source>
        <translation>%1 没有说明时间用在何处：工作进程未正常结束。</translation>
    </message>
    <message>
        <source>The folder %1 cannot be made: %2. Name another one with --folder.</source>
        <translation>无法创建文件夹 %1：%2。请用 --folder 指定另一个。</translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no chunk: write BLOCK:CHUNK, for example 3:17.</source>
        <translation>“%1”不是数据段的名称：请写成 块:数据段，例如 3:17。</translation>
    </message>
    <message>
        <source>Chunk %1 has no sample %2: its samples are 0 to %3.</source>
        <translation>数据段 %1 没有样本 %2：其样本为 0 到 %3。</translation>
    </message>
    <message>
        <source>The run has no chunk %1, or does not know it yet.</source>
        <translation>此运行没有数据段 %1，或尚无其信息。</translation>
    </message>
    <message>
        <source>Chunk %1 is not poisoned. &apos;furrowctl chunks list&apos; shows those that are.</source>
        <translation>数据段 %1 不是有毒的数据段。“furrowctl chunks list”会列出有毒的数据段。</translation>
    </message>
    <message>
        <source>%1 is a file. Name the folder that keeps the runs.</source>
        <translation>%1 是文件。请指定存放运行的文件夹。</translation>
    </message>
    <message>
        <source>%1 exists already. Name a new file with --out, or move that one away.</source>
        <translation>%1 已存在。请用 --out 指定新文件，或将它移走。</translation>
    </message>
    <message>
        <source>There is no completion for &apos;%1&apos;. Choose bash, zsh or fish.</source>
        <translation>没有用于“%1”的补全。请选择 bash、zsh 或 fish。</translation>
    </message>
    <message>
        <source>The folder %1 is not there.</source>
        <translation>文件夹 %1 不存在。</translation>
    </message>
    <message>
        <source>--set %1 is not key=value of a setting.</source>
        <translation>--set %1 不是某项设置的 键=值。</translation>
    </message>
    <message>
        <source>%1 cannot be read as settings: %2.</source>
        <translation>无法将 %1 作为设置读取：%2。</translation>
    </message>
    <message>
        <source>Checkpoint %1 cannot be chosen: %2</source>
        <translation>无法选择检查点 %1：%2</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1 with files; the dry run lists those it has.</source>
        <translation>此运行没有带文件的检查点 %1；预演会列出现有的检查点。</translation>
    </message>
    <message>
        <source>The run has no checkpoint %1; &apos;furrowctl resume --dry-run&apos; lists those it has.</source>
        <translation>此运行没有检查点 %1；“furrowctl resume --dry-run”会列出现有的检查点。</translation>
    </message>
    <message>
        <source>%1 is a file. Name a folder on the disk to try.</source>
        <translation>%1 是文件。请指定要测试的磁盘上的文件夹。</translation>
    </message>
    <message>
        <source>%1 lies in the run %2. Name a folder outside of every run.</source>
        <translation>%1 位于运行 %2 中。请指定不在任何运行之内的文件夹。</translation>
    </message>
    <message>
        <source>--checkpoint chooses the model of --format huggingface; what was measured is of the whole run.</source>
        <translation>--checkpoint 选择 --format huggingface 的模型；测量数据属于整个运行。</translation>
    </message>
    <message>
        <source>--data gives a loss and --tasks right answers: ask for one after the other.</source>
        <translation>--data 给出损失，--tasks 给出正确答案数：请分别执行。</translation>
    </message>
    <message>
        <source>%1 is for --tasks.</source>
        <translation>%1 用于 --tasks。</translation>
    </message>
    <message>
        <source>--type is for --format gguf.</source>
        <translation>--type 用于 --format gguf。</translation>
    </message>
    <message>
        <source>%1 is not a JSON array of token ids.</source>
        <translation>%1 不是词元 id 的 JSON 数组。</translation>
    </message>
    <message>
        <source>%1 has the id %2; the vocabulary of %3 ends at %4.</source>
        <translation>%1 含有 id %2；%3 的词表到 %4 为止。</translation>
    </message>
    <message>
        <source>Stopped before the tokenizer was trained.</source>
        <translation>在分词器训练完成之前已停止。</translation>
    </message>
    <message>
        <source>No libtorch that fits was found in the active environment, in python3 or in /opt/libtorch. `furrowctl torch find FOLDER` looks elsewhere, `furrowctl torch install` brings one.</source>
        <translation>在当前环境、python3 和 /opt/libtorch 中都没有找到合适的 libtorch。`furrowctl torch find 文件夹` 会在别处查找，`furrowctl torch install` 会获取一份。</translation>
    </message>
    <message>
        <source>quarantine list &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation>隔离清单“%1”：名称不能为空、不能以点开头、不能含有斜杠</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>preset &quot;%1&quot;: a name must not be empty, begin with a dot or contain a slash</source>
        <translation>预设“%1”：名称不能为空、不能以点开头、不能含有斜杠</translation>
    </message>
    <message>
        <source>the tracker cannot be written</source>
        <translation>账本不可写</translation>
    </message>
    <message>
        <source>%1 is not to be written by anybody: its permissions were changed. What needs to write it waits, and goes on once it can (`chmod u+w`).</source>
        <translation>任何人都不能写入 %1：其权限被更改。需要写入它的进程会等待，一旦可写便继续（`chmod u+w`）。</translation>
    </message>
    <message>
        <source>The tracker of %1 names process %2, which is none of the run; it is left alone.</source>
        <translation>%1 的账本提到进程 %2，但它不属于该运行；不予处理。</translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained twice in each epoch. Name it once if that is not meant.</source>
        <translation>%1 在数据中出现两次：其各行在每个轮次中训练两次。若非本意，请只写一次。</translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained twice in each epoch. Leave one out if that is not meant.</source>
        <translation>%1 与 %2 内容相同：其各行在每个轮次中训练两次。若非本意，请去掉其中一个。</translation>
    </message>
    <message>
        <source>%1 more files are in the data more than once.</source>
        <translation>另有 %1 个文件在数据中出现不止一次。</translation>
    </message>
    <message>
        <source>%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.</source>
        <translation>%1 是隐藏文件（名称以点开头），已略过。若需要，请重命名。</translation>
    </message>
    <message>
        <source>%1 columns are called %2; the first one is read.</source>
        <translation>有 %1 列名为 %2；读取第一列。</translation>
    </message>
    <message>
        <source>There is another column %1; write it so if it is meant.</source>
        <translation>还有另一列 %1；若要用它，请这样写。</translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so its lines are one; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE) if they are meant.</source>
        <translation>%1 只有回车符，没有换行符。行以换行符结束，因此它的各行成为一行；若需要分行，请转换（tr &apos;\r&apos; &apos;\n&apos; &lt; FILE）。</translation>
    </message>
    <message>
        <source>more follows the mark of its end, as in archives that were joined</source>
        <translation>其结束标记之后还有内容，如同被拼接的归档</translation>
    </message>
    <message>
        <source>--checkpoints names a checkpoint twice: it would count twice in the average.</source>
        <translation>--checkpoints 中有检查点出现两次：它会在平均值中计算两次。</translation>
    </message>
    <message>
        <source>A run has at most %1 tags.</source>
        <translation>一个运行最多有 %1 个标签。</translation>
    </message>
    <message>
        <source>The tag %1 is too long. Keep what is longer than a few words as a note.</source>
        <translation>标签 %1 太长。超过几个词的内容请写入备注。</translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is damaged. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation>保存标签、备注和队列的 %1 已损坏。请将其移走：Furrow 会新建一个，各运行保持原样。</translation>
    </message>
    <message>
        <source>has no turn of the assistant that is to be learnt (weight 0, or train false)</source>
        <translation>没有需要学习的 assistant 回合（weight 为 0 或 train 为 false）</translation>
    </message>
    <message>
        <source>The column history is not read: a row is one question with its answer. Write earlier turns as messages.</source>
        <translation>不读取 history 列：一行是一个问题及其回答。较早的回合请写成 messages。</translation>
    </message>
    <message>
        <source>1 sample is longer than a window; its end is cut off and not trained.</source>
        <translation>1 个样本比窗口长；其末尾被截去，不参与训练。</translation>
    </message>
    <message>
        <source>%1 samples are longer than a window; their ends are cut off and not trained.</source>
        <translation>%1 个样本比窗口长；其末尾被截去，不参与训练。</translation>
    </message>
    <message>
        <source>1 sample is longer than a window and is left out, among the filtered ones.</source>
        <translation>1 个样本比窗口长，已被略过，计入被过滤的样本。</translation>
    </message>
    <message>
        <source>%1 samples are longer than a window and are left out, among the filtered ones.</source>
        <translation>%1 个样本比窗口长，已被略过，计入被过滤的样本。</translation>
    </message>
    <message>
        <source>%1 was removed.</source>
        <translation>%1 已被删除。</translation>
    </message>
    <message>
        <source>%1 was asked to end and is still held by a process that cannot be seen from here, perhaps in another container. It ends as soon as that goes on; else end that container.</source>
        <translation>已要求 %1 结束，但它仍被一个从这里看不到的进程（可能在另一个容器中）持有。那个进程继续后它就会结束；否则请结束那个容器。</translation>
    </message>
    <message>
        <source>its disk has room but can hold no more files (no inodes are left); remove some files and try again</source>
        <translation>磁盘还有空间，但不能再容纳更多文件（inode 已用完）；请删除一些文件后重试</translation>
    </message>
    <message>
        <source>the file is larger than its disk can hold; choose another place</source>
        <translation>文件超过了其磁盘所能容纳的大小；请选择其他位置</translation>
    </message>
    <message>
        <source>files may not be larger than %1 here; raise the limit (ulimit -f) and start again</source>
        <translation>此处文件不能大于 %1；请提高限制（ulimit -f）后重新开始</translation>
    </message>
    <message>
        <source>the two places are on different disks; move it by hand</source>
        <translation>两个位置在不同的磁盘上；请手动移动</translation>
    </message>
    <message>
        <source>%1 is not running: %2 works on it. Wait until that has ended.</source>
        <translation>%1 没有在运行：%2 正在处理它。请等它结束。</translation>
    </message>
    <message>
        <source>%1 The process that holds the run cannot be seen from here, perhaps because it is in another container. End the run there, or end that container.</source>
        <translation>%1 持有该运行的进程从这里看不到，可能在另一个容器中。请在那里结束运行，或结束那个容器。</translation>
    </message>
    <message>
        <source>%1 is in use: %2 works on it. Wait until that has ended.</source>
        <translation>%1 正在使用中：%2 正在处理它。请等它结束。</translation>
    </message>
    <message>
        <source>%1 is in use: %2 holds %3 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation>%1 正在使用中：%2 持有 %3，且不是 Furrow 的程序。请结束它，或等它释放。</translation>
    </message>
    <message>
        <source>its supervisor is silent</source>
        <translation>它的监督进程没有动静</translation>
    </message>
    <message>
        <source>The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.</source>
        <translation>监督进程从这里看不到，可能在另一个容器中运行，并且已有 %1 没有写入任何内容。如果那个容器被暂停了，请让它继续。</translation>
    </message>
    <message>
        <source>The worker is alive.</source>
        <translation>工作进程存活。</translation>
    </message>
    <message>
        <source>The worker is not alive.</source>
        <translation>工作进程已不存活。</translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run; its last heartbeat is %1 ago.</source>
        <translation>一个从这里看不到的进程（可能在另一个容器中）持有该运行；它的上一次心跳在 %1 前。</translation>
    </message>
    <message>
        <source>The supervisor (process %1, in another container) holds the run; its last heartbeat is %2 ago.</source>
        <translation>监督进程（进程 %1，在另一个容器中）持有该运行；它的上一次心跳在 %2 前。</translation>
    </message>
    <message>
        <source>The numbers are those of an older snapshot, of %1, for the tracker cannot be read now. %2</source>
        <translation>这些数字来自较早的快照（%1），因为现在无法读取账本。%2</translation>
    </message>
    <message>
        <source>an older snapshot is shown</source>
        <translation>显示的是较早的快照</translation>
    </message>
    <message>
        <source>its disk can hold no more files</source>
        <translation>它的磁盘不能再容纳更多文件</translation>
    </message>
    <message>
        <source>The disk of %1 can hold no more files (no inodes are left): nothing is saved until some are removed.</source>
        <translation>%1 的磁盘不能再容纳更多文件（inode 已用完）：在删除一些文件之前不会保存任何内容。</translation>
    </message>
    <message>
        <source>%1 is a link. Only runs go to the trash; remove the link yourself.</source>
        <translation>%1 是一个链接。只有运行才会移入回收站；请自行删除该链接。</translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Only runs go to the trash.</source>
        <translation>%1 不是运行：它没有 run.json。只有运行才会移入回收站。</translation>
    </message>
    <message>
        <source>%1 holds several JSON documents that go over lines. Write one object per line (jsonl), or one list of them.</source>
        <translation>%1 含有多个跨行的 JSON 文档。请每行写一个对象（jsonl），或写成一个列表。</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those without a worker keep their weights and are trained no further.</source>
        <translation>拥有自身权重的副本：%1；今后：%2。它们不会合并（合并方式为 none）：没有工作进程的副本保留其权重，不再训练。</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. Before the first step they are merged (%3), and each starts from the merge.</source>
        <translation>拥有自身权重的副本：%1；今后：%2。第一步之前会将它们合并（%3），每个副本都从合并结果开始。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read cannot be used; the first: %3.</source>
        <translation>读取的 %2 个样本中有 %1 个无法使用；第一个：%3。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are filtered.</source>
        <translation>读取的 %2 个样本中有 %1 个被过滤。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are repeats.</source>
        <translation>读取的 %2 个样本中有 %1 个是重复的。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read are longer than a window.</source>
        <translation>读取的 %2 个样本中有 %1 个比一个窗口长。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples that were read have bytes or escapes that are not characters.</source>
        <translation>读取的 %2 个样本中有 %1 个含有不是字符的字节或转义。</translation>
    </message>
    <message>
        <source>%1 % of the tokens stand for characters that the tokenizer does not have.</source>
        <translation>%1 % 的词元代表分词器中没有的字符。</translation>
    </message>
    <message>
        <source>it is the block %1 under another name</source>
        <translation>它是另一个名称下的块 %1</translation>
    </message>
    <message>
        <source>The %1 rows from row %2 of %3 on are one chunk of more than %4 of text: its rows are much longer than those around them. Begin a new run with fewer chunk_samples.</source>
        <translation>%3 中从第 %2 行起的 %1 行组成一个文本超过 %4 的数据段：其行远比周围的行长。请以较小的 chunk_samples 开始新的运行。</translation>
    </message>
    <message>
        <source>%1 rows of block %2: %3</source>
        <translation>块 %2 的 %1 行：%3</translation>
    </message>
    <message>
        <source>block %1 was prepared already and stays as it was planned</source>
        <translation>块 %1 此前已准备好，保持原计划不变</translation>
    </message>
    <message>
        <source>%1 is named twice. Nothing was moved.</source>
        <translation>%1 指定了两次。未移动任何内容。</translation>
    </message>
    <message>
        <source>a thread could not be made (%1): the limits on memory (ulimit -v) and on processes and threads (ulimit -u) leave no room for one. Raise them, or use fewer workers and threads.</source>
        <translation>无法创建线程（%1）：内存限制（ulimit -v）以及进程和线程限制（ulimit -u）没有留下余地。请提高限制，或使用更少的工作进程和线程。</translation>
    </message>
    <message>
        <source>The settings that the tracker kept of attempt %1 were set aside, so that those of run.json hold. What a resume had changed must be given again. They could not be used: %2</source>
        <translation>账本中保存的第 %1 次尝试的设置已被搁置，因此以 run.json 中的设置为准。之前恢复训练时更改过的内容需要重新给出。它们无法使用：%2</translation>
    </message>
    <message>
        <source>The tracker keeps settings of attempt %1 that a resume cannot use: %2 &apos;furrowctl doctor %3 --repair&apos; sets them aside, so that those of run.json hold.</source>
        <translation>账本中保存的第 %1 次尝试的设置无法用于恢复训练：%2 “furrowctl doctor %3 --repair”会将其搁置，以 run.json 中的设置为准。</translation>
    </message>
    <message>
        <source>The settings that tracker.sqlite keeps of attempt %1 cannot be read: %2 &apos;furrowctl doctor --repair&apos; with the folder of the run sets them aside; those of run.json hold then.</source>
        <translation>tracker.sqlite 中保存的第 %1 次尝试的设置无法读取：%2 对该运行的文件夹执行“furrowctl doctor --repair”会将其搁置；此后以 run.json 中的设置为准。</translation>
    </message>
    <message>
        <source>checkpoint %1 cannot be used: its %2 cannot be read (%3), though the hashes of its files fit.</source>
        <translation>检查点 %1 无法使用：其 %2 无法读取（%3），尽管其文件的哈希值相符。</translation>
    </message>
    <message>
        <source>%1 keeps this of attempt %2. &apos;furrowctl doctor %3 --repair&apos; sets the settings of that attempt aside; those of run.json hold then.</source>
        <translation>这是 %1 中保存的第 %2 次尝试的设置。“furrowctl doctor %3 --repair”会搁置那次尝试的设置；此后以 run.json 中的设置为准。</translation>
    </message>
    <message>
        <source>the settings of attempt %1 were set aside: %2</source>
        <translation>第 %1 次尝试的设置已被搁置：%2</translation>
    </message>
    <message>
        <source>setting the settings of an attempt aside</source>
        <translation>搁置一次尝试的设置</translation>
    </message>
    <message>
        <source>The cause is %1 bytes long, allowed are %2: it is kept with each chunk and shown for it in every epoch.</source>
        <translation>原因长 %1 字节，最多允许 %2：它会随每个数据段保存，并在每个轮次中显示。</translation>
    </message>
    <message>
        <source>%1, which holds tags, notes and the queue, is a link to what is not there. Bring that back, or remove the link: Furrow makes a new file then.</source>
        <translation>%1 保存标签、备注和队列，但它是一个指向不存在内容的链接。请恢复其目标，或删除该链接：Furrow 会创建新文件。</translation>
    </message>
    <message>
        <source>%1 should hold tags, notes and the queue, and is a database of another program. Move it away: Furrow makes a new one, and the runs are as they were.</source>
        <translation>%1 本应保存标签、备注和队列，却是另一个程序的数据库。请将其移走：Furrow 会创建新的，各个运行保持原样。</translation>
    </message>
    <message>
        <source>Process %1, which the tracker names as a worker, trains in another folder: this one is a copy.</source>
        <translation>账本中列为工作进程的进程 %1 在另一个文件夹中训练：此文件夹是副本。</translation>
    </message>
    <message>
        <source>The clock here is %1 ahead of that of the run; times are told by that of the run.</source>
        <translation>此处的时钟比该运行的时钟快 %1；时间以该运行的时钟为准。</translation>
    </message>
    <message>
        <source>The clock here is %1 behind that of the run; times are told by that of the run.</source>
        <translation>此处的时钟比该运行的时钟慢 %1；时间以该运行的时钟为准。</translation>
    </message>
    <message>
        <source>%1 is gone. Is its disk still there? The attempt waits for it, %2 at most.</source>
        <translation>%1 不见了。它所在的磁盘还在吗？本次尝试会等待它，最多 %2。</translation>
    </message>
    <message>
        <source>%1 has been gone for %2, so the attempt ends. Bring its disk back and resume: what the checkpoints have is kept.</source>
        <translation>%1 已消失 %2，因此本次尝试结束。请接回其磁盘并恢复训练：检查点中的内容都会保留。</translation>
    </message>
    <message>
        <source>%1 Until then the settings of the console are the built-in ones, and changes are not kept.</source>
        <translation>%1 在此之前，控制台使用内置设置，更改不会保存。</translation>
    </message>
    <message>
        <source>%1 %2 of the data cannot be read now. Bring back the disk or share, or put the data back.</source>
        <translation>%1 数据中有 %2 现在无法读取。请重新接上磁盘或共享文件夹，或放回数据。</translation>
    </message>
    <message>
        <source>%1 The data changed since the run was made (%2), so its blocks would not be the same. Restore the data and resume, go on without what changed (resume with %3), or start a new run on the data as it is now.</source>
        <translation>%1 数据自创建运行后已更改（%2），其块将不再相同。请还原数据后恢复运行，或不用已更改的部分继续（以 %3 恢复），或用现在的数据开始新的运行。</translation>
    </message>
    <message>
        <source>%1 does not answer: is its disk or share there? The run waits for it.</source>
        <translation>%1 没有响应：它的磁盘或共享文件夹在吗？运行会等待它。</translation>
    </message>
    <message>
        <source>The data cannot be read; what is prepared of it is trained meanwhile: %1</source>
        <translation>数据无法读取；其间训练已准备好的部分：%1</translation>
    </message>
    <message>
        <source>The run waits for its data, and trains nothing meanwhile: %1</source>
        <translation>运行在等待数据，其间什么也不训练：%1</translation>
    </message>
    <message>
        <source>The data cannot be read since %1; what is prepared of it is trained meanwhile: %2. Next try in %3 s.</source>
        <translation>自 %1 起数据无法读取；其间训练已准备好的部分：%2。%3 秒后重试。</translation>
    </message>
    <message>
        <source>The run waits for its data since %1, and trains nothing meanwhile: %2. Next try in %3 s.</source>
        <translation>运行自 %1 起等待数据，其间什么也不训练：%2。%3 秒后重试。</translation>
    </message>
    <message>
        <source>waiting for its data</source>
        <translation>等待数据</translation>
    </message>
    <message>
        <source>%1. Waiting since %2, trying again in %3 s.</source>
        <translation>%1。自 %2 起等待，%3 秒后重试。</translation>
    </message>
    <message>
        <source>epochs %1 to %2: %3</source>
        <translation>第 %1 至 %2 轮：%3</translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again; with %2 it goes on without it. Mended data is other data and needs a new run.</source>
        <translation>一部分数据无法读取（%1）。恢复运行时会重试；以 %2 恢复则不使用这部分。修复过的数据是另一份数据，需要新的运行。</translation>
    </message>
    <message>
        <source>%1 % of the text prepared so far is characters that the tokenizer has no token for: they are dropped. Set encoding if the text is read wrongly, or take another tokenizer.</source>
        <translation>目前已准备的文本中有 %1 % 是分词器没有词元的字符：它们被丢弃。如果文本读取有误，请设置 encoding，或换用其他分词器。</translation>
    </message>
    <message>
        <source>%1 leads to %2, which is not a web address (http or https), and is not followed.</source>
        <translation>%1 指向 %2，它不是网页地址（http 或 https），不予跟随。</translation>
    </message>
    <message>
        <source>%1 has text after the closing quote of a field (record %2): it is kept as part of the field. Check whether a quote or a delimiter is missing.</source>
        <translation>%1 在某个字段的结束引号之后还有文本（第 %2 条记录）：它作为字段的一部分保留。请检查是否缺少引号或分隔符。</translation>
    </message>
    <message>
        <source>%1 has carriage returns and no line feed. A line ends at a line feed, so all of it is one row, which is not JSON; convert them (tr &apos;\r&apos; &apos;\n&apos; &lt; FILE).</source>
        <translation>%1 有回车符而没有换行符。行以换行符结束，因此整个文件是一行，且不是 JSON；请转换它们（tr &apos;\r&apos; &apos;\n&apos; &lt; FILE）。</translation>
    </message>
    <message>
        <source>The filters leave no row of the data.</source>
        <translation>过滤后数据中没有剩下任何行。</translation>
    </message>
    <message>
        <source>No row of the data is left: the first one %1, and the filters leave none that can be read.</source>
        <translation>数据中没有剩下任何行：第一行 %1，而过滤后没有可读取的行。</translation>
    </message>
    <message>
        <source>%1 characters of the samples that were read have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation>已读取的样本中有 %1 个字符没有词元，被丢弃：分词器没有可代表它们的未知词元。</translation>
    </message>
    <message>
        <source>The cache %1 is full: its cap is %2, %3 of it are needed by what this program reads, no other one uses it, and %4 more are to be written. Raise cache_gib.</source>
        <translation>缓存 %1 已满：上限为 %2，其中 %3 为本程序所读内容所需，没有其他程序使用它，还要写入 %4。请增大 cache_gib。</translation>
    </message>
    <message>
        <source>%1 is %2 when it is unpacked, which is more than the whole cache may hold (cache_gib: %3). Raise cache_gib, or unpack the file yourself: a plain file is read where it lies.</source>
        <translation>%1 解压后为 %2，超过整个缓存的上限（cache_gib：%3）。请增大 cache_gib，或自行解压该文件：未压缩的文件会在原处读取。</translation>
    </message>
    <message>
        <source>%1 is a hidden folder (its name begins with a dot): the data files in it were left out. Rename it if they are meant.</source>
        <translation>%1 是隐藏文件夹（名称以点开头）：其中的数据文件未被采用。如需使用，请重命名。</translation>
    </message>
    <message>
        <source>%1 is %2, but the largest compressed file is about %3 when it is unpacked, and two prepared blocks of %4 samples take about %5. Raise it, or unpack the file yourself.</source>
        <translation>%1 为 %2，但最大的压缩文件解压后约为 %3，而两个各含 %4 个样本的已准备块约占 %5。请增大它，或自行解压该文件。</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are too long for a window: with the end-of-text after it a sample may have %4 tokens. Set it to split, or raise %5.</source>
        <translation>%1 为 %2，而通过过滤的全部 %3 个样本对一个窗口来说都太长：连同其后的文本结束符，一个样本最多可有 %4 个词元。请设为 split，或增大 %5。</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 samples that pass the filters are held out: none is left to train. Lower it.</source>
        <translation>%1 为 %2，通过过滤的全部 %3 个样本都被留出：没有可训练的样本。请减小它。</translation>
    </message>
    <message>
        <source>None of the %1 samples of the data that pass the filters can be used: the first %2.</source>
        <translation>数据中通过过滤的 %1 个样本都无法使用：第一个 %2。</translation>
    </message>
    <message>
        <source>%1 characters of the text prepared so far have no token and are dropped: the tokenizer has no unknown token that would stand for them.</source>
        <translation>目前已准备的文本中有 %1 个字符没有词元，被丢弃：分词器没有可代表它们的未知词元。</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2</source>
        <translation>%2 的第 %1 行（从 0 计）</translation>
    </message>
    <message>
        <source>%1 has no text in a column &apos;%2&apos;, which was found in %3 and counts for all files of a source. Its columns with text are: %4. Name a column that all of them have with text_column, name this file as a source of its own, or leave it out.</source>
        <translation>%1 在列“%2”中没有文本；该列是在 %3 中找到的，并对同一来源的所有文件有效。它含文本的列是：%4。请用 text_column 指定所有文件都有的列，把此文件作为单独的来源，或将其排除。</translation>
    </message>
    <message>
        <source>That is %1 % of them, and max_unreadable_percent allows %2 %: the run would stop. Mend the data, or set a higher limit.</source>
        <translation>占其中的 %1 %，而 max_unreadable_percent 允许 %2 %：运行会停止。请修复数据，或提高限制。</translation>
    </message>
    <message>
        <source>The text is column %1, the first one that can hold text.</source>
        <translation>文本取自列 %1，即第一个可以包含文本的列。</translation>
    </message>
    <message>
        <source>The text is column %1: it has the most text.</source>
        <translation>文本取自列 %1：它的文本最多。</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Only text can be trained: leave it out.</source>
        <translation>%1 是 %2，不是文本。只能训练文本：请将其排除。</translation>
    </message>
    <message>
        <source>%1 is %2. Save its table as csv and name that file.</source>
        <translation>%1 是 %2。请把其中的表格另存为 csv 并指定该文件。</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Save it as plain text (.txt) and name that file.</source>
        <translation>%1 是 %2，不是文本。请另存为纯文本（.txt）并指定该文件。</translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not read. Write its texts as jsonl, csv or Parquet and name that file.</source>
        <translation>%1 是 %2，Furrow 无法读取。请把其中的文本写成 jsonl、csv 或 Parquet 并指定该文件。</translation>
    </message>
    <message>
        <source>%1 is %2, not text. Give it its right name.</source>
        <translation>%1 是 %2，不是文本。请给它正确的名称。</translation>
    </message>
    <message>
        <source>%1 is %2, which Furrow does not open. Unpack it and name the folder.</source>
        <translation>%1 是 %2，Furrow 无法打开。请解包并指定文件夹。</translation>
    </message>
    <message>
        <source>row %1 (line %2) of %3 %4</source>
        <translation>%3 的第 %1 行（文件第 %2 行）%4</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 %3</source>
        <translation>%2 的第 %1 行（从 0 计）%3</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 stream knows no samples.</source>
        <translation>%1 为 %2，但 %3 stream 没有样本。</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 needs the gradient of each window alone, which is not known with it.</source>
        <translation>%1 为 %2，但 %3 需要每个窗口单独的梯度，这样设置时无法得知。</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: without noise there is no guarantee.</source>
        <translation>%1 为 %2，但 %3 为 0：没有噪声就没有保证。</translation>
    </message>
    <message>
        <source>%1 is 0, but %2 is %3: an epsilon is one at a delta above 0, such as 0.000001.</source>
        <translation>%1 为 0，但 %2 为 %3：epsilon 对应一个大于 0 的 delta，例如 0.000001。</translation>
    </message>
    <message>
        <source>%1 is %2, which does not allow one epoch: that gives %3 with %4 %5, and needs noise of %6.</source>
        <translation>%1 为 %2，连一轮都不允许：它在 %4 %5 时为 %3，需要 %6 的噪声。</translation>
    </message>
    <message>
        <source>%1 is sample, but %2 is 0: nothing is hidden without noise.</source>
        <translation>%1 为 sample，但 %2 为 0：没有噪声就什么也掩盖不了。</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 is 0: noise hides a window only if its part is bounded, such as by 1.</source>
        <translation>%1 为 %2，但 %3 为 0：只有限制了窗口的份额（例如限为 1），噪声才能掩盖它。</translation>
    </message>
    <message>
        <source>%1 is stream, which does not count how often a window is trained, but %2 is %3.</source>
        <translation>%1 为 stream，它不统计窗口训练的次数，但 %2 为 %3。</translation>
    </message>
    <message>
        <source>%1 is on, but it follows losses that no noise hides; with %2 the rate follows %3 alone.</source>
        <translation>%1 已开启，但它依据没有噪声掩盖的损失；使用 %2 时学习率只按 %3 变化。</translation>
    </message>
    <message>
        <source>%1 is %2, where a window holds parts of several samples, but %3 is sample; allowed is single.</source>
        <translation>%1 为 %2，此时一个窗口含有多个样本的部分，但 %3 为 sample；只能用 single。</translation>
    </message>
    <message>
        <source>%1 is split, so that a long sample has several windows, but %2 is sample; allowed is cut or leave_out.</source>
        <translation>%1 为 split，长样本会占多个窗口，但 %2 为 sample；可用 cut 或 leave_out。</translation>
    </message>
    <message>
        <source>%1 asks for several epochs, but %2 is window, whose text is another one in each of them where %3 is on. Allowed is one epoch, or %4 sample, or no shuffling.</source>
        <translation>%1 要求训练多轮，但 %2 为 window，而在 %3 开启时每一轮中窗口的文本都不同。可用一轮，或 %4 sample，或不打乱。</translation>
    </message>
    <message>
        <source>The unit is a sample: a row of the data, in a window of its own. There are %1.</source>
        <translation>单元是样本：数据的一行，各占一个窗口。共 %1 个。</translation>
    </message>
    <message>
        <source>The unit is a window: %1 tokens, as they were trained together. There are %2.</source>
        <translation>单元是窗口：一起训练的 %1 个词元。共 %2 个。</translation>
    </message>
    <message>
        <source>No epsilon is stated: something is wrong with the ledger, and so nothing proves how often a unit took part.</source>
        <translation>不给出 epsilon：账本有问题，因此无法证明单元参与的次数。</translation>
    </message>
    <message>
        <source>No epsilon is stated: %1 is 0. A resume may set it.</source>
        <translation>不给出 epsilon：%1 为 0。恢复训练时可以设置。</translation>
    </message>
    <message>
        <source>What else a run shows: losses, norms, samples that stand out, texts. No noise hides them. The guarantee is one of the weights.</source>
        <translation>运行显示的其他内容：损失、范数、离群的样本、文本。没有噪声掩盖它们。保证只针对权重。</translation>
    </message>
    <message>
        <source>The held-out text, which is not trained: evaluations show it, and so does who stops or chooses weights by them.</source>
        <translation>留出的文本，它不参与训练：评估会透露它，按评估停止或挑选权重也会。</translation>
    </message>
    <message>
        <source>What the data decided before training: a tokenizer made from it, which rows were filtered, left out as repeats or held out, and how many there are.</source>
        <translation>训练前由数据决定的事：由数据生成的分词器，哪些行被过滤、因重复而略去或被留出，以及行数。</translation>
    </message>
    <message>
        <source>Who is behind a unit: rows that tell of one person are so many units.</source>
        <translation>单元背后是谁：涉及同一个人的多行算作多个单元。</translation>
    </message>
    <message>
        <source>Who knows the seed: the noise follows from it (%1, kept in run.json), by a generator that is not one of cryptography. Give away weights, not the run, and keep the seed.</source>
        <translation>知道种子的人：噪声由种子决定（%1，保存在 run.json 中），所用生成器不是密码学安全的。请只交出权重，不要交出运行文件夹，并保管好种子。</translation>
    </message>
    <message>
        <source>The rounding of numbers: noise of float32 is not quite that of the theory.</source>
        <translation>数值的舍入：float32 的噪声与理论上的并不完全相同。</translation>
    </message>
    <message>
        <source>What the weights were made from that the run began with (%1).</source>
        <translation>运行起始权重的来源（%1）。</translation>
    </message>
    <message>
        <source>Epsilon is %1 at delta %2, for one unit that is left out.</source>
        <translation>在 delta 为 %2 时，去掉一个单元的 epsilon 为 %1。</translation>
    </message>
    <message>
        <source>Two runs are neighbours when they differ by one unit that counts as zero in every step. For one unit in place of another epsilon is %1.</source>
        <translation>两个运行若只差一个在每步中都按零计的单元，就是相邻的。以一个单元替换另一个时，epsilon 为 %1。</translation>
    </message>
    <message>
        <source>Each step adds normal noise of %1 times the norm that the gradient of a unit may have (%2). Any unit took part %3 times at most, by the history of claims; no chance of taking part is assumed.</source>
        <translation>每一步加入的正态噪声是单元梯度范数上限的 %1 倍（上限 %2）。按领取历史，任何单元最多参与 %3 次；不假设任何参与概率。</translation>
    </message>
    <message>
        <source>That counts %1 trainings of chunks whose weights are lost, for somebody may have seen them. Of the surviving weights alone: %2 times at most, epsilon %3.</source>
        <translation>其中包括权重已丢失的 %1 次数据段训练，因为可能有人看到过。仅就留存的权重而言：最多 %2 次，epsilon 为 %3。</translation>
    </message>
    <message>
        <source>No epsilon is stated: the files are not what the ledger speaks of.</source>
        <translation>不给出 epsilon：文件与账本所述不符。</translation>
    </message>
    <message>
        <source>epsilon allows no unit to take part once more</source>
        <translation>epsilon 不允许任何单元再参与一次</translation>
    </message>
    <message>
        <source>the gradient of each window alone is known of architecture gpt without experts only; allowed is 0</source>
        <translation>只有不含专家的 gpt 架构才能得知每个窗口单独的梯度；只能为 0</translation>
    </message>
    <message>
        <source>the gradients of %1 of the windows %2-%3 are not finite: they count as zero</source>
        <translation>窗口 %2-%3 中有 %1 个的梯度不是有限数：按零计</translation>
    </message>
    <message>
        <source>There is no %1 in the current folder. The run of that name is %2.</source>
        <translation>当前文件夹中没有 %1。同名的运行是 %2。</translation>
    </message>
    <message>
        <source>A copy in the cache is damaged and is made or fetched again (%1)</source>
        <translation>缓存中的一个副本已损坏，正在重新生成或下载（%1）</translation>
    </message>
    <message>
        <source>The download %1 has other bytes than arrived (SHA-256).</source>
        <translation>下载的 %1 与收到时的内容不同（SHA-256）。</translation>
    </message>
    <message>
        <source>%1 does not hold what arrived of %2 (SHA-256).</source>
        <translation>%1 的内容与收到的 %2 不一致（SHA-256）。</translation>
    </message>
    <message>
        <source>A fraction of %1 takes nothing of %2: it is drawn in whole stretches of the files, of which there are %3. Take a larger fraction, or max_samples.</source>
        <translation>比例 %1 从 %2 中取不到任何内容：它按文件的整段抽取，共有 %3 段。请取更大的比例，或使用 max_samples。</translation>
    </message>
    <message>
        <source>1 row of the evaluation text cannot be used and is not in it: %1.</source>
        <translation>评估文本中有 1 行无法使用，未包含在内：%1。</translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text cannot be used and are not in it; one of them: %2.</source>
        <translation>评估文本中有 %1 行无法使用，未包含在内；其中之一：%2。</translation>
    </message>
    <message>
        <source>1 row of the evaluation text is filtered, as in training.</source>
        <translation>评估文本中有 1 行被过滤，与训练时相同。</translation>
    </message>
    <message>
        <source>%1 rows of the evaluation text are filtered, as in training.</source>
        <translation>评估文本中有 %1 行被过滤，与训练时相同。</translation>
    </message>
    <message>
        <source>%1: about %2 % of its rows are needed, and only the row groups with them are fetched, so what arrives cannot be compared with the SHA-256 that the hub promises.</source>
        <translation>%1：大约需要其 %2 % 的行，只下载包含它们的行组，因此收到的内容无法与 Hub 给出的 SHA-256 比较。</translation>
    </message>
    <message>
        <source>%1: a fraction is drawn in whole stretches of the files (row groups of Parquet). Of the %2 that there are, those that come nearest to %3 % are %4 % of the data.</source>
        <translation>%1：比例按文件的整段抽取（Parquet 的行组）。在共有的 %2 段中，最接近 %3 % 的那些占数据的 %4 %。</translation>
    </message>
    <message>
        <source>The list of what is left out names chunk %1:%2, and the data has %3 blocks: this entry means nothing.</source>
        <translation>排除列表中列出了数据段 %1:%2，而数据只有 %3 个块：该条目没有作用。</translation>
    </message>
    <message>
        <source>%1 is a link, and Furrow deletes nothing behind a link inside its cache. Remove the link.</source>
        <translation>%1 是一个链接，Furrow 不会删除其缓存内链接所指向的任何内容。请移除该链接。</translation>
    </message>
    <message>
        <source>The copy of %1 in the cache (%2) does not hold what is in the file. It is put aside and made again.</source>
        <translation>缓存中 %1 的副本（%2）与文件内容不一致。它会被移到一旁并重新生成。</translation>
    </message>
    <message>
        <source>%1 does not hold what was written into it (XXH3)</source>
        <translation>%1 的内容与写入时不一致（XXH3）</translation>
    </message>
    <message>
        <source>%1 ends too early</source>
        <translation>%1 过早结束</translation>
    </message>
    <message>
        <source>%1 has bytes that are not UTF-8. They are read as U+FFFD; set encoding if the text has another one.</source>
        <translation>%1 含有不是 UTF-8 的字节。它们被读作 U+FFFD；如果文本使用其他编码，请设置 encoding。</translation>
    </message>
    <message>
        <source>The tokenizer has no token for these characters of the prompt: %1</source>
        <translation>分词器没有与提示词中这些字符对应的词元：%1</translation>
    </message>
    <message>
        <source>%1 does not hold the files of the model that this run began with (SHA-256). Put them back from a copy of the run.</source>
        <translation>%1 中的文件不是此运行开始时所用模型的文件（SHA-256）。请从运行的副本中放回它们。</translation>
    </message>
    <message>
        <source>%1 &apos;furrowctl eval&apos; evaluates the weights of a run that nobody trains.</source>
        <translation>%1 “furrowctl eval”评估无人训练的运行的权重。</translation>
    </message>
    <message>
        <source>The limit of one epoch is reached: it is complete. The attempt would end at once; raise the limit, or turn on %1.</source>
        <translation>已达到 1 轮的上限：已完成。本次尝试会立即结束；请提高上限，或开启“%1”。</translation>
    </message>
    <message>
        <source>The limit of %1 epochs is reached: they are complete. The attempt would end at once; raise the limit, or turn on %2.</source>
        <translation>已达到 %1 轮的上限：均已完成。本次尝试会立即结束；请提高上限，或开启“%2”。</translation>
    </message>
    <message>
        <source>Nothing was started, and the epoch of %1 that is open stays as it is. %2</source>
        <translation>没有启动任何内容，%1 中未完成的轮次保持原样。%2</translation>
    </message>
    <message>
        <source>Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those that are added start from the newest merge, or from what the run began with.</source>
        <translation>拥有自身权重的副本：%1；今后：%2。它们不会合并（合并方式为 none）：新增的副本从最新的合并开始，或从运行开始时的权重开始。</translation>
    </message>
    <message>
        <source>1 of them is left out whole, among the filtered ones: the cut takes all that would be learnt of it.</source>
        <translation>其中 1 个样本被整个排除，计入过滤的样本：截断去掉了其中所有要学习的内容。</translation>
    </message>
    <message>
        <source>%1 of them are left out whole, among the filtered ones: the cut takes all that would be learnt of them.</source>
        <translation>其中 %1 个样本被整个排除，计入过滤的样本：截断去掉了其中所有要学习的内容。</translation>
    </message>
    <message>
        <source>1 text is not trained at all: its first row is left out, and the others are repeats of that row.</source>
        <translation>有 1 段文本完全没有训练：它的第一行被排除，其余的行是该行的重复。</translation>
    </message>
    <message>
        <source>%1 texts are not trained at all: their first rows are left out, and the others are repeats of those rows.</source>
        <translation>有 %1 段文本完全没有训练：它们的第一行被排除，其余的行是这些行的重复。</translation>
    </message>
    <message>
        <source>Attempt %1 began.</source>
        <translation>第 %1 次尝试已开始。</translation>
    </message>
    <message>
        <source>The process that merged ended: %1</source>
        <translation>执行合并的进程已结束：%1</translation>
    </message>
    <message>
        <source>Worker %1 ended: %2</source>
        <translation>工作进程 %1 已结束：%2</translation>
    </message>
    <message>
        <source>Worker %1 was started again.</source>
        <translation>工作进程 %1 已重新启动。</translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation>第 %1 次尝试失败：%2</translation>
    </message>
    <message>
        <source>Attempt %1 was interrupted.</source>
        <translation>第 %1 次尝试被中断。</translation>
    </message>
    <message>
        <source>Attempt %1 ended: %2.</source>
        <translation>第 %1 次尝试已结束：%2。</translation>
    </message>
    <message>
        <source>Attempt %1 finished: %2.</source>
        <translation>第 %1 次尝试已完成：%2。</translation>
    </message>
    <message>
        <source>Put the source back as it was when the run was made, to the byte, then &apos;furrowctl chunks retry&apos; and resume; or go on without these rows by &apos;furrowctl chunks accept&apos; and resume. Mended data is other data and needs a new run.</source>
        <translation>请把数据源恢复成创建运行时的样子（逐字节相同），然后执行“furrowctl chunks retry”并恢复运行；或者用“furrowctl chunks accept”放弃这些行并恢复运行。修复过的数据是另一份数据，需要新的运行。</translation>
    </message>
    <message>
        <source>the feeder ended: %1</source>
        <translation>供数进程已结束：%1</translation>
    </message>
    <message>
        <source>the run waits for its data since %1: %2</source>
        <translation>运行自 %1 起等待数据：%2</translation>
    </message>
    <message>
        <source>the run has its data again</source>
        <translation>运行的数据已恢复</translation>
    </message>
    <message>
        <source>a person asked for a stop</source>
        <translation>有人请求停止</translation>
    </message>
    <message>
        <source>a person asked to kill the run</source>
        <translation>有人请求强制结束运行</translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model (%1)</source>
        <translation>它既不是 tokenizer.json，也不是 tiktoken 文件或 sentencepiece 模型（%1）</translation>
    </message>
    <message>
        <source>is longer than 16 MiB</source>
        <translation>超过 16 MiB</translation>
    </message>
    <message>
        <source>is broken JSON</source>
        <translation>是损坏的 JSON</translation>
    </message>
    <message>
        <source>is broken JSON: %1</source>
        <translation>是损坏的 JSON：%1</translation>
    </message>
    <message>
        <source>has a text column that is not a string</source>
        <translation>的文本列不是字符串</translation>
    </message>
    <message>
        <source>has fewer columns than the header</source>
        <translation>的列少于表头</translation>
    </message>
    <message>
        <source>has more fields than there are columns</source>
        <translation>的字段多于列数</translation>
    </message>
    <message>
        <source>has no file of that ending</source>
        <translation>没有该后缀的文件</translation>
    </message>
    <message>
        <source>has two files of one ending</source>
        <translation>有两个相同后缀的文件</translation>
    </message>
    <message>
        <source>is packed as its server sent it</source>
        <translation>仍是服务器发送时的压缩形式</translation>
    </message>
    <message>
        <source>becomes no token: the tokenizer keeps nothing of its text</source>
        <translation>没有得到任何词元：分词器没有保留其文本的任何部分</translation>
    </message>
    <message>
        <source>is a conversation, and the data set has no chat template</source>
        <translation>是一段对话，而数据集没有对话模板</translation>
    </message>
    <message>
        <source>has a turn of the assistant without a token</source>
        <translation>有一个助手回合没有词元</translation>
    </message>
    <message>
        <source>is not a conversation</source>
        <translation>不是对话</translation>
    </message>
    <message>
        <source>has no messages in %1</source>
        <translation>在 %1 中没有消息</translation>
    </message>
    <message>
        <source>has no turn of the assistant</source>
        <translation>没有助手的回合</translation>
    </message>
    <message>
        <source>is larger than a conversation may be</source>
        <translation>超过对话允许的大小</translation>
    </message>
    <message>
        <source>has tools that are not a list</source>
        <translation>的工具不是列表</translation>
    </message>
    <message>
        <source>has no %1</source>
        <translation>没有 %1</translation>
    </message>
    <message>
        <source>has a message %1 that is not an object</source>
        <translation>的第 %1 条消息不是对象</translation>
    </message>
    <message>
        <source>has a message %1 that cannot be written as JSON</source>
        <translation>的第 %1 条消息不能写成 JSON</translation>
    </message>
    <message>
        <source>has a message %1 of the assistant without text</source>
        <translation>的第 %1 条消息是没有文本的助手消息</translation>
    </message>
    <message>
        <source>has a message %1 without a role</source>
        <translation>的第 %1 条消息没有角色</translation>
    </message>
    <message>
        <source>has a message %1 of the unknown role &apos;%2&apos;</source>
        <translation>的第 %1 条消息有未知角色“%2”</translation>
    </message>
    <message>
        <source>has a message %1 without content</source>
        <translation>的第 %1 条消息没有内容</translation>
    </message>
    <message>
        <source>has a message %1 whose content is not text</source>
        <translation>的第 %1 条消息的内容不是文本</translation>
    </message>
    <message>
        <source>has a message %1 with a part that is not text</source>
        <translation>的第 %1 条消息有一部分不是文本</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>comma</source>
        <translation>逗号</translation>
    </message>
    <message>
        <source>semicolon</source>
        <translation>分号</translation>
    </message>
    <message>
        <source>tab</source>
        <translation>制表符</translation>
    </message>
    <message>
        <source>pipe</source>
        <translation>竖线</translation>
    </message>
    <message>
        <source>space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>%1 is not an address that data can be read from.</source>
        <translation>%1 不是可以请求数据的地址。</translation>
    </message>
    <message>
        <source>an Excel spreadsheet</source>
        <translation>Excel 电子表格</translation>
    </message>
    <message>
        <source>a PowerPoint presentation</source>
        <translation>PowerPoint 演示文稿</translation>
    </message>
    <message>
        <source>a Word document</source>
        <translation>Word 文档</translation>
    </message>
    <message>
        <source>an Office document</source>
        <translation>Office 文档</translation>
    </message>
    <message>
        <source>an EPUB book</source>
        <translation>EPUB 图书</translation>
    </message>
    <message>
        <source>an OpenDocument spreadsheet</source>
        <translation>OpenDocument 电子表格</translation>
    </message>
    <message>
        <source>an OpenDocument document</source>
        <translation>OpenDocument 文档</translation>
    </message>
    <message>
        <source>none at all</source>
        <translation>没有</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>PNG 图片</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>PDF 文档</translation>
    </message>
    <message>
        <source>a zip archive</source>
        <translation>zip 压缩包</translation>
    </message>
    <message>
        <source>a program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>JPEG 图片</translation>
    </message>
    <message>
        <source>a GIF picture</source>
        <translation>GIF 图片</translation>
    </message>
    <message>
        <source>a sound, film or picture</source>
        <translation>声音、影片或图片</translation>
    </message>
    <message>
        <source>an SQLite database</source>
        <translation>SQLite 数据库</translation>
    </message>
    <message>
        <source>a document of an older Office</source>
        <translation>旧版 Office 文档</translation>
    </message>
    <message>
        <source>an RTF document</source>
        <translation>RTF 文档</translation>
    </message>
    <message>
        <source>a Parquet file</source>
        <translation>Parquet 文件</translation>
    </message>
    <message>
        <source>an encrypted Parquet file</source>
        <translation>加密的 Parquet 文件</translation>
    </message>
    <message>
        <source>an Arrow file</source>
        <translation>Arrow 文件</translation>
    </message>
    <message>
        <source>a Feather file</source>
        <translation>Feather 文件</translation>
    </message>
    <message>
        <source>an Arrow stream</source>
        <translation>Arrow 流</translation>
    </message>
    <message>
        <source>an ORC file</source>
        <translation>ORC 文件</translation>
    </message>
    <message>
        <source>an Avro file</source>
        <translation>Avro 文件</translation>
    </message>
    <message>
        <source>an HDF5 file</source>
        <translation>HDF5 文件</translation>
    </message>
    <message>
        <source>a NumPy array</source>
        <translation>NumPy 数组</translation>
    </message>
    <message>
        <source>a GGUF model</source>
        <translation>GGUF 模型</translation>
    </message>
    <message>
        <source>an xz archive</source>
        <translation>xz 压缩包</translation>
    </message>
    <message>
        <source>a bzip2 archive</source>
        <translation>bzip2 压缩包</translation>
    </message>
    <message>
        <source>a 7z archive</source>
        <translation>7z 压缩包</translation>
    </message>
    <message>
        <source>a rar archive</source>
        <translation>rar 压缩包</translation>
    </message>
    <message>
        <source>an lz4 archive</source>
        <translation>lz4 压缩包</translation>
    </message>
    <message>
        <source>a snappy archive</source>
        <translation>snappy 压缩包</translation>
    </message>
    <message>
        <source>a pickle file</source>
        <translation>pickle 文件</translation>
    </message>
    <message>
        <source>a tar archive</source>
        <translation>tar 压缩包</translation>
    </message>
    <message>
        <source>Worker %1 made no progress since %2.</source>
        <translation>工作进程 %1 自 %2 起没有进展。</translation>
    </message>
    <message>
        <source>worker %1 goes on</source>
        <translation>工作进程 %1 继续进行</translation>
    </message>
    <message>
        <source>Only %1 is free on the disk of this run; checkpoints need room.</source>
        <translation>此运行所在磁盘仅剩 %1；检查点需要空间。</translation>
    </message>
    <message>
        <source>the disk of the run has room again</source>
        <translation>运行所在的磁盘又有空间了</translation>
    </message>
    <message>
        <source>the checkpoints are back</source>
        <translation>检查点又在了</translation>
    </message>
    <message>
        <source>%1 and %2 were not trained on the same texts. %3: %4</source>
        <translation>%1 与 %2 训练的文本不同。%3：%4</translation>
    </message>
    <message>
        <source>furrowctl inspect needs chunk: BLOCK:CHUNK, both from 0; or --unreadable.</source>
        <translation>furrowctl inspect 需要 chunk：BLOCK:CHUNK，均从 0 开始；或 --unreadable。</translation>
    </message>
    <message>
        <source>%1 is not a folder; move it away or choose another place</source>
        <translation>%1 不是文件夹；请将其移走或选择其他位置</translation>
    </message>
    <message>
        <source>the system has too many open files; end some programs</source>
        <translation>系统打开的文件过多；请关闭一些程序</translation>
    </message>
    <message>
        <source>%1 is not a folder, and a run keeps a folder there. Move away what has its name; nothing was changed.</source>
        <translation>%1 不是文件夹，而运行在此处保存一个文件夹。请移走占用该名称的内容；未作任何更改。</translation>
    </message>
    <message>
        <source>%1 is not there. It was made with the run and there is no other: put it back from a copy of the run.</source>
        <translation>%1 不存在。它随运行一同创建，没有第二份：请从该运行的副本中放回。</translation>
    </message>
    <message>
        <source>%1 of the %2 samples of block %3 have bytes that are not UTF-8, as which %4 is read: they are not trained as they are meant. By these bytes it is likely %5 there; if so, stop, and begin a new run with that encoding (%6).</source>
        <translation>块 %3 的 %2 个样本中有 %1 个含有不是 UTF-8 的字节，而 %4 是按 UTF-8 读取的：它们没有按原意训练。从这些字节看，那里很可能是 %5；如果是这样，请停止，并用该编码开始新的运行（%6）。</translation>
    </message>
    <message>
        <source>downloading %1: %2, no byte for %3 s</source>
        <translation>正在下载 %1：%2，已有 %3 秒没有收到任何字节</translation>
    </message>
    <message>
        <source>downloading %1: %2 of %3, no byte for %4 s</source>
        <translation>正在下载 %1：%2 / %3，已有 %4 秒没有收到任何字节</translation>
    </message>
    <message>
        <source>%1 has no columns: it holds no rows, or only blank ones.</source>
        <translation>%1 没有列：其中没有行，或只有空白行。</translation>
    </message>
    <message>
        <source>it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model</source>
        <translation>它既不是 tokenizer.json，也不是 tiktoken 文件或 sentencepiece 模型</translation>
    </message>
    <message>
        <source>weights and optimiser state of %1 older checkpoints: --deep reads them too</source>
        <translation>%1 个更早检查点的权重和优化器状态：--deep 也会读取它们</translation>
    </message>
    <message>
        <source>SHA-256 of %1 files (%2) of %3 checkpoints: the newest of each replica, and those that a resume takes moments of the optimiser or the outer state of DiLoCo from</source>
        <translation>%3 个检查点的 %1 个文件（%2）的 SHA-256：每个副本最新的检查点，以及恢复时从中取用优化器动量或 DiLoCo 外层状态的检查点</translation>
    </message>
    <message>
        <source>For comparison with other programs only: had each of %1 steps drawn its units by chance (Poisson, %2 % each), epsilon would be %3. Steps here take units in turn, so that does not hold.</source>
        <translation>仅供与其他程序比较：如果 %1 步中每一步都随机抽取单元（泊松，每个 %2 %），epsilon 会是 %3。这里的各步依次取用单元，因此该值不成立。</translation>
    </message>
    <message>
        <source>Replica %1, which stands on a merge, takes the moments of its optimiser from there: without it they are those of an older checkpoint, or start afresh.</source>
        <translation>副本 %1 以一次合并为起点，其优化器的动量取自该处：没有它，动量将取自更早的检查点，或从头开始。</translation>
    </message>
    <message>
        <source>The replicas grew from it: without it their next merge is a plain average, and the outer state of DiLoCo starts afresh.</source>
        <translation>各副本由它发展而来：没有它，下一次合并将只是普通平均，DiLoCo 的外层状态从头开始。</translation>
    </message>
    <message>
        <source>Put a whole copy back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation>请放回一份完整的副本，然后恢复运行；或者用“furrowctl resume %1 --accept-loss”在没有它的情况下继续。不会放弃任何权重，也不会重新训练任何内容。</translation>
    </message>
    <message>
        <source>Bring the file or its disk back and resume; or &apos;furrowctl resume %1 --accept-loss&apos; goes on without it. No weights are given up and nothing is trained again.</source>
        <translation>请恢复该文件或其磁盘，然后恢复运行；或者用“furrowctl resume %1 --accept-loss”在没有它的情况下继续。不会放弃任何权重，也不会重新训练任何内容。</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2</source>
        <translation>无法读取 %1：%2</translation>
    </message>
    <message>
        <source>%1 has no weights.</source>
        <translation>%1 中没有权重。</translation>
    </message>
    <message>
        <source>%1: %2 holds other weights than when the run was made (SHA-256). Put those back, or start a new run from these.</source>
        <translation>%1：%2 中的权重与创建运行时不同（SHA-256）。请恢复原来的权重，或用现在的权重开始新的运行。</translation>
    </message>
    <message>
        <source>An epoch trains %1 tokens.</source>
        <translation>一个轮次训练 %1 个词元。</translation>
    </message>
    <message>
        <source>An epoch trains about %1 tokens, judged from what was looked at.</source>
        <translation>按已查看的部分估计，一个轮次约训练 %1 个词元。</translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved, which they can as soon as the tracker is free; what they cannot save within ten minutes is trained again after a resume.</source>
        <translation>%1 因此已用信号要求监督进程（进程 %2）结束。各工作进程保存后它就结束，账本一空出即可保存；十分钟内无法保存的内容在恢复后重新训练。</translation>
    </message>
    <message>
        <source>%1 So the supervisor, process %2, was asked by a signal. It ends when its workers have saved; what they cannot save within a minute is trained again after a resume.</source>
        <translation>%1 因此已用信号要求监督进程（进程 %2）结束。各工作进程保存后它就结束；一分钟内无法保存的内容在恢复后重新训练。</translation>
    </message>
    <message>
        <source>Epsilon may be %1 at most, and %2 is spent: no unit may take part once more. The attempt would end at once; raise %3, or write 0 for no limit.</source>
        <translation>epsilon 最多为 %1，已用 %2：任何单元都不能再参与。这次尝试会立即结束；请调大 %3，或写 0 表示不设上限。</translation>
    </message>
    <message>
        <source>Private training: no unit has taken part in a step yet.</source>
        <translation>隐私训练：还没有单元参与过任何一步。</translation>
    </message>
    <message>
        <source>Private training: participations of any unit: %1 at most. No epsilon is said: %2 is 0.</source>
        <translation>隐私训练：任一单元的参与次数最多为 %1。不给出 epsilon：%2 为 0。</translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, at delta %2; participations of any unit: %3 at most.</source>
        <translation>隐私训练：在 delta %2 下，epsilon 最多为 %1；任一单元的参与次数最多为 %3。</translation>
    </message>
    <message>
        <source>Private training: epsilon is %1 at most, of %2, at delta %3; participations of any unit: %4 at most, of %5.</source>
        <translation>隐私训练：在 delta %3 下，epsilon 最多为 %1（上限 %2）；任一单元的参与次数最多为 %4（上限 %5）。</translation>
    </message>
    <message>
        <source>1 row is left out by name (exclude), among the filtered ones.</source>
        <translation>有 1 行按名称排除（exclude），计入被过滤的行。</translation>
    </message>
    <message>
        <source>%1 rows are left out by name (exclude), among the filtered ones.</source>
        <translation>有 %1 行按名称排除（exclude），计入被过滤的行。</translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) means nothing: there is no such chunk.</source>
        <translation>排除列表（exclude）中的条目“%1”没有作用：没有这个数据段。</translation>
    </message>
    <message>
        <source>The entry &apos;%1&apos; of what is left out (exclude) met no row.</source>
        <translation>排除列表（exclude）中的条目“%1”没有匹配到任何行。</translation>
    </message>
    <message>
        <source>1 more entry of what is left out met nothing.</source>
        <translation>排除列表中还有 1 个条目没有匹配到任何内容。</translation>
    </message>
    <message>
        <source>%1 more entries of what is left out met nothing.</source>
        <translation>排除列表中还有 %1 个条目没有匹配到任何内容。</translation>
    </message>
    <message>
        <source>reading which rows make block %1</source>
        <translation>正在读取哪些行组成块 %1</translation>
    </message>
    <message>
        <source>block %1 cannot be prepared: %2</source>
        <translation>块 %1 无法准备：%2</translation>
    </message>
    <message>
        <source>%1 of the %2 rows read so far cannot be read: %3 %, and the limit is %4 %. The first: %5. Mend the data and begin a new run, or resume with a higher limit (%6).</source>
        <translation>目前读到的 %2 行中有 %1 行无法读取：%3 %，而上限是 %4 %。第一行：%5。请修复数据并开始新的运行，或提高上限后恢复（%6）。</translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 are here</source>
        <translation>%1 没有字节传来，已收到 %2</translation>
    </message>
    <message>
        <source>no byte of %1 comes, %2 of %3 are here</source>
        <translation>%1 没有字节传来，已收到 %2 / %3</translation>
    </message>
    <message>
        <source>The supervisor was asked to end (SIGTERM): shut-down, log-out, or a stop that the tracker could not take.</source>
        <translation>监督进程被要求结束（SIGTERM）：关机、注销，或账本无法记录的停止请求。</translation>
    </message>
    <message>
        <source>some unit of the data takes part %1 times from here on</source>
        <translation>从这里起，数据中有单元参与了 %1 次</translation>
    </message>
    <message>
        <source>epoch %1 is complete</source>
        <translation>第 %1 轮已完成</translation>
    </message>
    <message>
        <source>Checkpoint %1 is damaged: SHA-256 of %2 differs. Name another one, or put its files back from a copy.</source>
        <translation>检查点 %1 已损坏：%2 的 SHA-256 不一致。请指定另一个，或从副本恢复其文件。</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2: newer ones cannot be used.</source>
        <translation>副本 %1 的优化器动量取自检查点 %2：更新的无法使用。</translation>
    </message>
    <message>
        <source>%1 stores rows in blocks of %2 numbers, and no matrix of this model has such rows (width %3): all would be f16. Export with --type f16, bf16 or f32.</source>
        <translation>%1 以每块 %2 个数存储各行，而此模型没有这样的矩阵（宽度 %3）：全部会变成 f16。请用 --type f16、bf16 或 f32 导出。</translation>
    </message>
    <message>
        <source>You cannot run this queue, and nobody is seen to run it: %1</source>
        <translation>您无法运行此队列，也看不到有谁在运行它：%1</translation>
    </message>
    <message>
        <source>%1 waits in the queue. Take it out first (&apos;furrowctl queue remove %2&apos;).</source>
        <translation>%1 正在队列中等待。请先将其移出（“furrowctl queue remove %2”）。</translation>
    </message>
    <message>
        <source>%1 is in the data twice: its rows are trained once, as repeats are left out.</source>
        <translation>%1 在数据中出现两次：其各行只训练一次，因为重复的文本会略去。</translation>
    </message>
    <message>
        <source>%1 has the content of %2: its rows are trained once, as repeats are left out.</source>
        <translation>%1 与 %2 内容相同：其各行只训练一次，因为重复的文本会略去。</translation>
    </message>
    <message>
        <source>This run trains with noise. A tracker made anew, or taken forward, does not know every training that was lost before: no epsilon can be stated of the run any more, and no limit of epsilon be kept. A copy of the tracker that is whole and as new as the weights, put back in its place, keeps both.</source>
        <translation>此运行带噪声训练。重新建立或向前推进的账本并不知道之前丢失的每一次训练：该运行再也无法给出 epsilon，也无法遵守 epsilon 的上限。把一份完整且与权重同样新的账本副本放回原处，两者都能保留。</translation>
    </message>
    <message>
        <source>%1 belongs to run %2, and by run.json this is run %3: it proves nothing about this one.</source>
        <translation>%1 属于运行 %2，而按 run.json 这是运行 %3：它对本运行什么也证明不了。</translation>
    </message>
    <message>
        <source>%1 Put the right one back; or &apos;furrowctl doctor %2 --repair&apos; sets this one aside and goes by what this run has of its own.</source>
        <translation>%1 请放回正确的文件；或者“furrowctl doctor %2 --repair”会把它移到一旁，并以本运行自己的内容为准。</translation>
    </message>
    <message>
        <source>%1 It is kept as %2.</source>
        <translation>%1 它保留为 %2。</translation>
    </message>
    <message>
        <source>%1 So no rule can end the run before a unit takes part once too often, and nothing was started. Write 0 for %2 to go on without that limit.</source>
        <translation>%1 因此没有规则能在某个单元多参与一次之前结束运行，所以什么都没有启动。把 %2 写为 0 可以不带该限制继续。</translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker was made anew or went on from an older copy, and the trainings that were lost before that are not in it.</source>
        <translation>不给出 epsilon：账本是重建的，或是从较旧的副本继续的，此前丢失的训练不在其中。</translation>
    </message>
    <message>
        <source>No epsilon is stated: the tracker cannot be read, and its snapshot may be older.</source>
        <translation>不给出 epsilon：账本无法读取，而它的快照可能较旧。</translation>
    </message>
    <message>
        <source>its checkpoints cannot be written</source>
        <translation>检查点无法写入</translation>
    </message>
    <message>
        <source>%1: claim %2 was begun and does not say when: its row was changed</source>
        <translation>%1：领取 %2 已开始，却没有说明何时：该行被改过</translation>
    </message>
    <message>
        <source>%1 is marked as %2, and no event says so: its row was changed from outside</source>
        <translation>%1 被标记为%2，但没有任何事件记录这一点：该行被外部改过</translation>
    </message>
    <message>
        <source>%1: claim %2 ended otherwise by its row than by the events: its row was changed</source>
        <translation>%1：领取 %2 在其行中的结束方式与事件所说的不同：该行被改过</translation>
    </message>
    <message>
        <source>%1: claim %2 was trained, and no checkpoint has a part of it: a row was changed or taken out</source>
        <translation>%1：领取 %2 已训练，却没有任何检查点含有它的部分：某行被改过或被移除</translation>
    </message>
    <message>
        <source>Worker %1 cannot save what it trains, and tries again: %2</source>
        <translation>工作进程 %1 无法保存所训练的内容，正在重试：%2</translation>
    </message>
    <message>
        <source>worker %1 has saved what it trained</source>
        <translation>工作进程 %1 已保存所训练的内容</translation>
    </message>
    <message>
        <source>%1 is locked by another process for too long; let it go on or end it, then try again</source>
        <translation>%1 被另一个进程锁定过久；请让它继续或结束它，然后重试</translation>
    </message>
    <message>
        <source>%1 is one JSON document, and its texts stand in a list of it. Name them with text_column, and each element of the list is a row (%2); or write one object per line (jsonl), and each is a row.</source>
        <translation>%1 是一个 JSON 文档，其文本位于其中的一个列表里。请用 text_column 指明它们，列表的每个元素就是一行（%2）；或者每行写一个对象（jsonl），每个对象就是一行。</translation>
    </message>
    <message>
        <source>%1 has several JSON objects on its first line. Write one object per line.</source>
        <translation>%1 的第一行有多个 JSON 对象。请每行只写一个对象。</translation>
    </message>
    <message>
        <source>%1 more blocks are not inspected: their source cannot be reached now</source>
        <translation>另有 %1 个块未检查：现在无法访问其来源</translation>
    </message>
    <message>
        <source>%1; of %2 files from elsewhere %3 have the SHA-256 that is promised of them, what was read of the others is what their server sends now</source>
        <translation>%1；在 %2 个来自别处的文件中，%3 个与给定的 SHA-256 相符，其余文件读取的是其服务器现在发送的内容</translation>
    </message>
    <message>
        <source>not one block could be prepared once more</source>
        <translation>没有一个块能够重新准备</translation>
    </message>
    <message>
        <source>the tracker %1 is not in WAL mode: it is a copy, not a live tracker; `furrowctl doctor %2 --repair` puts it into WAL mode and changes nothing else</source>
        <translation>账本 %1 不是 WAL 模式：它是副本，不是可用的账本；`furrowctl doctor %2 --repair` 会把它设为 WAL 模式，其他不变</translation>
    </message>
    <message>
        <source>left out by hand</source>
        <translation>手动排除</translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: it ends with attempt %3, the snapshot with attempt %4. What was trained and lost in between is not in it.</source>
        <translation>账本 %1 比自己的快照 %2 旧：它止于第 %3 次尝试，快照止于第 %4 次尝试。其间训练并丢失的内容不在其中。</translation>
    </message>
    <message>
        <source>The tracker %1 is older than its own snapshot %2: by it a unit took part %3 times at most, by the snapshot %4 times. What was trained and lost in between is not in it.</source>
        <translation>账本 %1 比自己的快照 %2 旧：按账本，一个单元最多参与 %3 次；按快照，最多 %4 次。其间训练并丢失的内容不在其中。</translation>
    </message>
    <message>
        <source>Nobody could write to the tracker for %1: %2 The run goes on by itself once it can be written.</source>
        <translation>已有 %1 无法写入账本：%2 一旦可以写入，运行会自行继续。</translation>
    </message>
    <message>
        <source>its supervisor writes nothing</source>
        <translation>监督进程没有写入任何内容</translation>
    </message>
    <message>
        <source>The supervisor has written nothing to the tracker for %1, though it lives and nobody has locked it: the disk of %2 takes nothing, or answers no more. Look at the disk; the run goes on by itself once it can be written.</source>
        <translation>监督进程仍在运行，账本也无人锁定，但已有 %1 没有写入任何内容：%2 所在的磁盘拒绝写入或没有响应。请检查磁盘；一旦可以写入，运行会自行继续。</translation>
    </message>
    <message>
        <source>No epsilon is stated:</source>
        <translation>不给出 epsilon：</translation>
    </message>
    <message>
        <source>The run is being stopped. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation>运行正在停止。结束后可用“furrowctl resume”恢复。</translation>
    </message>
    <message>
        <source>The run is being killed. When it has ended, &apos;furrowctl resume&apos; goes on with it.</source>
        <translation>正在强制结束运行。结束后可用“furrowctl resume”恢复。</translation>
    </message>
    <message>
        <source>An invented run needs 1 to 1024 workers, 1 to 1000 attempts and a step for each worker.</source>
        <translation>虚构的运行需要 1 到 1024 个工作进程、1 到 1000 次尝试，并且每个工作进程至少一步。</translation>
    </message>
    <message>
        <source>the machine was restarted</source>
        <translation>机器重新启动过</translation>
    </message>
    <message>
        <source>a person stopped the run</source>
        <translation>有人停止了运行</translation>
    </message>
    <message>
        <source>invented by furrow --synthetic: no model was trained</source>
        <translation>由 furrow --synthetic 虚构：没有训练任何模型</translation>
    </message>
    <message>
        <source>%1 cannot be written: check space and permissions</source>
        <translation>无法写入 %1：请检查空间和权限</translation>
    </message>
    <message>
        <source>The cache %1 belongs to %2, who alone can verify or trim it. `furrowctl cache list` shows what is in it.</source>
        <translation>缓存 %1 属于 %2，只有其所有者可以校验或缩减它。`furrowctl cache list` 显示其中的内容。</translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: it ends with attempt %3, and there are files of attempt %4. What was trained and lost in between is not in it.</source>
        <translation>账本 %1 比 %2 中的内容旧：它止于第 %3 次尝试，而那里有第 %4 次尝试的文件。其间训练并丢失的内容不在其中。</translation>
    </message>
    <message>
        <source>A person asked for a pause: the workers train on to the end of their chunks. Continue (`furrowctl continue`) takes it back.</source>
        <translation>有人要求暂停：工作进程会继续训练到其数据段结束。“继续”（`furrowctl continue`）会取消暂停。</translation>
    </message>
    <message>
        <source>1 block, %1</source>
        <translation>1 个块，%1</translation>
    </message>
    <message>
        <source>an older tracker was put back: only files of this attempt are left</source>
        <translation>放回了较旧的账本：这次尝试只剩下文件</translation>
    </message>
    <message>
        <source>No process runs the queue. &apos;furrowctl queue start&apos; starts one.</source>
        <translation>没有进程在运行队列。“furrowctl queue start”会启动一个。</translation>
    </message>
    <message>
        <source>The tracker %1 is older than what lies in %2: a person left %3 out there, and it does not know of that.</source>
        <translation>账本 %1 比 %2 中的内容旧：那里记录有人排除了%3，而账本中没有记录。</translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 holds %2 and is not a program of Furrow. End it, or wait until it lets go.</source>
        <translation>队列中的内容都不会启动：%1 持有 %2，且不是 Furrow 的程序。请结束它，或等它释放。</translation>
    </message>
    <message>
        <source>Nothing of the queue is started: %1 runs it. Let it go on, or end it and start the queue again.</source>
        <translation>队列中的内容都不会启动：运行它的是%1。请让它继续，或结束它并重新启动队列。</translation>
    </message>
    <message>
        <source>%1: what it had from row %2 on came into no block, so nobody knows how many rows that were.</source>
        <translation>%1：从第 %2 行起的内容没有进入任何块，因此无法得知那有多少行。</translation>
    </message>
    <message>
        <source>%1 is in the data twice, by %2 and by %3: each of its rows would take part twice in an epoch, and private training would state half of that. Name it once, or train the first of equal texts alone (%4).</source>
        <translation>%1 在数据中出现了两次（通过 %2 和 %3）：它的每一行在一个轮次中会参与两次，而隐私训练只会声明其一半。请只指定一次，或只训练相同文本中的第一个（%4）。</translation>
    </message>
    <message>
        <source>%1 has the content of %2: each of its rows would take part twice in an epoch, and private training would state half of that. Leave one of them out, or train the first of equal texts alone (%3).</source>
        <translation>%1 的内容与 %2 相同：它的每一行在一个轮次中会参与两次，而隐私训练只会声明其一半。请去掉其中一个，或只训练相同文本中的第一个（%3）。</translation>
    </message>
    <message>
        <source>%1 is again as it was when the run was made. Epochs that open from now on train it, but for rows that never came into a block or were taken out of one.</source>
        <translation>%1 又与创建运行时一样了。从现在起开始的轮次会训练它，但从未进入块或已从块中去掉的行除外。</translation>
    </message>
    <message>
        <source>merged 1 replica into %1</source>
        <translation>1 个副本已合并为 %1</translation>
    </message>
    <message>
        <source>The moments of the optimiser of replica %1 are those of checkpoint %2, of replica %3: its own are gone.</source>
        <translation>副本 %1 的优化器动量取自检查点 %2（副本 %3）：它自己的已不存在。</translation>
    </message>
    <message>
        <source>The checkpoints in %1 are of two lines: the tracker knows one of them, and newer ones do not grow from its newest weights, as after a resume --from-checkpoint: %2. Nothing was changed. Put the newer tracker back if you have it; &apos;furrowctl doctor %3 --repair --accept-loss&apos; goes on from what this one knows and moves the others to checkpoints/unknown.</source>
        <translation>%1 中的检查点属于两条线：账本中只有其中一条，较新的并非由它最新的权重而来，例如在 resume --from-checkpoint 之后：%2。未作任何更改。如果有较新的账本，请把它放回；“furrowctl doctor %3 --repair --accept-loss”则从此账本所知的状态继续，并把其余的移到 checkpoints/unknown。</translation>
    </message>
    <message>
        <source>left out with its file: %1</source>
        <translation>随其文件一起排除：%1</translation>
    </message>
    <message>
        <source>asked to stop before all ranks had come</source>
        <translation>在所有 rank 到齐之前被要求停止</translation>
    </message>
    <message>
        <source>a rank came to the meeting and has left it. All ranks end and start again together.</source>
        <translation>有一个 rank 到场后又离开了。所有 rank 都会结束并一起重新开始。</translation>
    </message>
    <message>
        <source>%1 chunks that a person had left out would be trained; they are left out again.</source>
        <translation>有人已排除的 %1 个数据段本会被训练；它们再次被排除。</translation>
    </message>
    <message>
        <source>%1: the server sends nothing of a file that has %2.</source>
        <translation>%1：服务器没有发送任何内容，而该文件有 %2。</translation>
    </message>
    <message>
        <source>%1: config &apos;%2&apos;, split &apos;%3&apos;.</source>
        <translation>%1：配置“%2”，划分“%3”。</translation>
    </message>
    <message>
        <source>%1 is a small .json in the root of hf://%2, as descriptions of data sets are, and was left out.</source>
        <translation>%1 是 hf://%2 根目录下的小 .json 文件，像是数据集的说明，已略去。</translation>
    </message>
    <message>
        <source>%1 of the files in %2 are not records of what was left out of this run, %3 for one. If one was damaged, a tracker that is older than it would train its chunks. Compare the chunks that &apos;furrowctl audit RUN&apos; calls excluded, and move the file away.</source>
        <translation>%2 中有 %1 个文件不是本次运行略去内容的记录，例如 %3。如果其中某个已损坏，比它更旧的账本会训练它的数据段。请对照“furrowctl audit RUN”列为已排除的数据段，然后把该文件移走。</translation>
    </message>
    <message>
        <source>Put the newer one back if you have it. &apos;furrowctl doctor %1 --repair&apos; takes the snapshot in its place where that is newer.</source>
        <translation>如果您有较新的，请放回。如果快照更新，“furrowctl doctor %1 --repair”会用它代替。</translation>
    </message>
    <message>
        <source>%1; %2 of its %3 windows are in the weights</source>
        <translation>%1；其 %3 个窗口中有 %2 个在权重中</translation>
    </message>
    <message>
        <source>left out, for it cannot be read: %1</source>
        <translation>因无法读取而略去：%1</translation>
    </message>
    <message>
        <source>%1 is text by its name, and is trained as it stands, though its lines are JSON objects. Name it .jsonl to train a column of them.</source>
        <translation>%1 按其名称是文本，会原样训练，尽管其各行是 JSON 对象。若要训练其中一列，请把它命名为 .jsonl。</translation>
    </message>
    <message>
        <source>A fraction of %1 takes no row of %2. Take a larger one, or max_samples.</source>
        <translation>比例 %1 没有从 %2 取到任何行。请取更大的比例，或使用 max_samples。</translation>
    </message>
    <message>
        <source>%1 is binary, not text. If it is text with control characters in it, name its encoding, such as utf-8, with --encoding.</source>
        <translation>%1 是二进制文件，不是文本。如果它是含有控制字符的文本，请用 --encoding 指明其编码，例如 utf-8。</translation>
    </message>
    <message>
        <source>Taken forward from the manifests in %1, the tracker would give up newest weights that it knows: %2. Nothing was changed. &apos;furrowctl resume %3 --accept-loss&apos; goes on from what the tracker knows and is whole, and moves what it does not know to checkpoints/unknown; &apos;furrowctl doctor %4 --repair --accept-loss&apos; gives them up, and %5 of %6 known chunks are trained then.</source>
        <translation>若根据 %1 中的清单将账本推进，它将放弃自己记录的最新权重：%2。未作任何更改。“furrowctl resume %3 --accept-loss”从账本有记录且完好的内容继续，并把未记录的移到 checkpoints/unknown；“furrowctl doctor %4 --repair --accept-loss”放弃这些权重，届时 %6 个已知数据段中有 %5 个已训练。</translation>
    </message>
    <message>
        <source>%1 chunks that a person left out are in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before them.</source>
        <translation>有人排除的 %1 个数据段仍在这些权重中：生成权重时并不知道此事。“furrowctl resume RUN --from-checkpoint”可退回到它们之前。</translation>
    </message>
    <message>
        <source>In %1 lie manifests of this run that the tracker %2 does not know: %3, the newest %4 (step %5, %6). It knows newer ones too: the folder holds two lines of the run, or the tracker was put back from a copy.</source>
        <translation>%1 中有此运行的、账本 %2 未记录的清单：%3 份，最新的是 %4（第 %5 步，%6）。账本也记录了更新的清单：该文件夹中有此运行的两条线，或者账本是从副本恢复的。</translation>
    </message>
    <message>
        <source>the history of events: from which state to which chunks moved, when and why; and why claims ended</source>
        <translation>事件历史：数据段从哪个状态转到哪个状态、何时以及为何；以及领取为何结束</translation>
    </message>
    <message>
        <source>of a block how many of its rows repeat others, had bytes that are not UTF-8 or could not be read</source>
        <translation>每个块中有多少行与其他行重复、含有非 UTF-8 字节或无法读取</translation>
    </message>
    <message>
        <source>%1 is left out already</source>
        <translation>%1 已被排除</translation>
    </message>
    <message>
        <source>process %1 (stopped)</source>
        <translation>进程 %1（已暂停）</translation>
    </message>
    <message>
        <source>process %1 (%2, stopped)</source>
        <translation>进程 %1（%2，已暂停）</translation>
    </message>
    <message>
        <source>%1 has locked the tracker; the attempt begins when it lets go. Let it go on or end it.</source>
        <translation>%1已锁定账本；它释放后尝试才会开始。让它继续或结束它。</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run and has begun no attempt yet.</source>
        <translation>监督进程（进程 %1）持有此运行，尚未开始任何尝试。</translation>
    </message>
    <message>
        <source>%1 holds %2 and is not a program of Furrow: until it lets go, no attempt can begin.</source>
        <translation>%1持有 %2，且不是 Furrow 的程序：在它释放之前，无法开始任何尝试。</translation>
    </message>
    <message>
        <source>%1 is free, and surviving checkpoints have all of its windows</source>
        <translation>%1 是空闲的，而现存检查点已有其全部窗口</translation>
    </message>
    <message>
        <source>%1 says that it has tracker version %2 and has tables of a newer one: it was changed from outside; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove</source>
        <translation>%1 自称账本版本为 %2，却有更新版本的表：它被外部改动过；`furrowctl doctor %3 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>Block %1 was prepared again and has other content than what the run was given, which is there no more: its text cannot be shown. `furrowctl audit RUN --deep` says what the source has.</source>
        <translation>块 %1 已重新准备，其内容与当时提供给运行的不同，而后者已不存在：无法显示其文本。`furrowctl audit RUN --deep` 会说明数据源中的内容。</translation>
    </message>
    <message>
        <source>of a replica whether it rests, and which of the newest weights it stands on</source>
        <translation>副本是否闲置，以及它基于哪一份最新权重</translation>
    </message>
    <message>
        <source>The folder %1 is not there, and process %2 still supervises a run in it: its disk was taken away meanwhile, or the folder was moved. Bring it back and the run goes on; or end that process: what no checkpoint has is trained again after a resume.</source>
        <translation>文件夹 %1 不在，而进程 %2 仍在监督其中的运行：其磁盘在此期间被卸下，或文件夹被移走。把它恢复后运行会继续；或结束该进程：没有任何检查点保存的内容会在恢复后重新训练。</translation>
    </message>
    <message>
        <source>%1 has no cache: nothing was prepared or fetched there yet.</source>
        <translation>%1 没有缓存：那里还没有准备或下载过任何东西。</translation>
    </message>
    <message>
        <source>says that it comes in chunks, and these are broken</source>
        <translation>声明以分块（chunked）方式传来，而这些分块已损坏</translation>
    </message>
    <message>
        <source>lies where the file is damaged</source>
        <translation>位于文件损坏之处</translation>
    </message>
    <message>
        <source>%1: its rows are lists, and in a list no column can be named. Write each object of them as a row of its own, all in one list or one per line (jsonl).</source>
        <translation>%1：其各行是列表，而列表中无法指定列。请将其中每个对象写成单独的一行，全部放在一个列表中，或每行一个（jsonl）。</translation>
    </message>
    <message>
        <source>%1: none of its first rows is a JSON object with members, the first begins with %2. Write each row as an object with a member that holds its text, one per line (jsonl).</source>
        <translation>%1：前面的各行都不是带成员的 JSON 对象，第一行以 %2 开头。请将每行写成一个对象，由一个成员保存其文本，每行一个（jsonl）。</translation>
    </message>
    <message>
        <source>%1 What cannot be read is left out (%2).</source>
        <translation>%1 无法读取的部分将被略去（%2）。</translation>
    </message>
    <message>
        <source>%1 is a zip archive with %2 of something else before it, such as the program of one that unpacks itself. Unpack it and name the folder.</source>
        <translation>%1 是一个 zip 压缩包，其前面有 %2 的其他内容，例如自解压程序。请先解压，再指定该文件夹。</translation>
    </message>
    <message>
        <source>%1 has no column &apos;%2&apos;. Its columns with text are: %3.</source>
        <translation>%1 没有列“%2”。其含文本的列为：%3。</translation>
    </message>
    <message>
        <source>%1 cannot be read as Parquet in its rows %2 to %3, counted from 0 (%4). Fetch or write it again.</source>
        <translation>%1 的第 %2 至 %3 行（从 0 计数）无法作为 Parquet 读取（%4）。请重新获取或重新写入。</translation>
    </message>
    <message>
        <source>%1 holds several JSON documents: a second one begins at byte %2, after the end of the first. Join them in one list, or write one object per line (jsonl).</source>
        <translation>%1 含有多个 JSON 文档：第二个从第 %2 字节开始，位于第一个结束之后。请将它们合并为一个列表，或每行写一个对象（jsonl）。</translation>
    </message>
    <message>
        <source>the source goes on after block %1, which the tracker calls the last one: blocks were taken out of it</source>
        <translation>数据源在块 %1 之后仍有内容，而账本称它是最后一块：账本中的块被取走了</translation>
    </message>
    <message>
        <source>Prepared blocks of wrong bytes that were put aside in the cache (*.bad-*), where other runs over the same data would have found them: %1. Each is made again when it is needed.</source>
        <translation>由错误字节准备、已在缓存中搁置（*.bad-*）的块，否则使用相同数据的其他运行会用到它们：%1。需要时会重新准备。</translation>
    </message>
    <message>
        <source>the tracker&apos;s record of run.json was taken out or cut: nothing proves run.json any more</source>
        <translation>账本中对 run.json 的记录被取走或截断：不再有任何东西能证明 run.json</translation>
    </message>
    <message>
        <source>The manifests of %1 checkpoints are gone from %2, that of %3 for one: nothing but the tracker proves any more what they trained, and no repair can make it anew. Put them back from a copy of the run if you have one; it goes on without them.</source>
        <translation>%2 中缺少 %1 个检查点的清单，例如 %3 的清单：只剩账本能证明它们训练了什么，修复也无法重新生成账本。若有运行的副本，请从中恢复；没有它们运行也会继续。</translation>
    </message>
    <message>
        <source>checkpoint %1 proves nothing: its manifest is not the one that checkpoint %2 was made from, so one of the two was changed</source>
        <translation>检查点 %1 不能证明任何事：其清单不是检查点 %2 所依据的那一份，因此两者之一被改动过</translation>
    </message>
    <message>
        <source>what was rebuilt does not pass the audit, so nothing was changed: %1</source>
        <translation>重建的内容未通过审计，因此未作任何更改：%1</translation>
    </message>
    <message>
        <source>what is left does not prove what the newest weights hold: %1. Nothing was changed. Put what is missing or was changed back from a copy of the run, or its newest tracker.sqlite, and repair then</source>
        <translation>剩下的内容不能证明最新权重包含什么：%1。未作任何更改。请从运行的副本恢复缺失或被改动的内容，或其最新的 tracker.sqlite，然后再修复</translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation>进入 %1 权重的内容无法与其证明核对：%2。未作任何更改。请从运行的副本恢复清单再恢复运行；或用“furrowctl resume %3 --accept-loss”仅凭账本继续，“furrowctl audit %4”仍会指出这一点。</translation>
    </message>
    <message>
        <source>%1, a record of what a person left out, is damaged: a tracker that is older than it would train those chunks. Nothing was changed. Put it back from a copy of the run and resume; or, when &apos;furrowctl audit %2&apos; calls all of these chunks excluded, move it away; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone.</source>
        <translation>%1 是某人排除内容的记录，已损坏：比它更旧的账本会训练这些数据段。未作任何更改。请从运行的副本恢复它再恢复运行；或者，当“furrowctl audit %2”称这些数据段全部已排除时，把它移走；或用“furrowctl resume %3 --accept-loss”仅凭账本继续。</translation>
    </message>
    <message>
        <source>has another number of entries than parents</source>
        <translation>的条目数与 parents 不同</translation>
    </message>
    <message>
        <source>An epoch trains at most about %1 tokens: what of them repeats other texts, or is left out by name, is known when its blocks are prepared.</source>
        <translation>一个轮次最多训练约 %1 个词元：其中哪些与其他文本重复、哪些按名称略去，要在准备其块时才知道。</translation>
    </message>
    <message>
        <source>%1 Where that one is not at hand, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation>%1 若手头没有那个版本，请结束其监督进程 %2：它会保存并连同所有工作进程一起结束。</translation>
    </message>
    <message>
        <source>All of epoch 1 is kept.</source>
        <translation>第 1 轮全部保留。</translation>
    </message>
    <message>
        <source>What block %1 was first prepared from is not what its source holds: %2 is as it was when the run was made (its hash was compared), so it was read or transferred wrongly then. What was trained of it stays in the weights. Accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run.</source>
        <translation>块 %1 首次准备时所用的内容与其数据源不符：%2 与创建运行时一致（已比对哈希），因此当时读取或传输有误。已训练的部分留在权重中。请将其余数据段接受为未训练（“furrowctl chunks accept”）后恢复运行，或开始新的运行。</translation>
    </message>
    <message>
        <source>Block %1 has other content than when it was first prepared. By its server %2 is the same file, and nothing tells whether what came of it is right: one of the two transfers was wrong. &apos;furrowctl audit RUN --deep&apos; reads it once more. If that finds the block wrong, accept its other chunks as not trained (&apos;furrowctl chunks accept&apos;) and resume, or begin a new run; else try it again (&apos;furrowctl chunks retry&apos;).</source>
        <translation>块 %1 的内容与首次准备时不同。据其服务器，%2 是同一文件，但无从得知传来的内容是否正确：两次传输中有一次有误。“furrowctl audit RUN --deep”会再读一次。若其认定该块有误，请将其余数据段接受为未训练（“furrowctl chunks accept”）后恢复运行，或开始新的运行；否则请重试（“furrowctl chunks retry”）。</translation>
    </message>
    <message>
        <source>%1: its block has %2 chunks; the number of the chunk or the row of the block was changed</source>
        <translation>%1：其块有 %2 个数据段；数据段的编号或块的行被改动过</translation>
    </message>
    <message>
        <source>epoch %1 has %2 of the %3 chunks of block %4: rows were taken out, or have the number of another chunk</source>
        <translation>第 %1 轮只有块 %4 的 %3 个数据段中的 %2 个：有行被取走，或带有其他数据段的编号</translation>
    </message>
    <message>
        <source>%1: its %2 samples with %3 tokens do not make %4 windows: its row was changed</source>
        <translation>%1：其 %2 个样本、%3 个词元不会组成 %4 个窗口：其行被改动过</translation>
    </message>
    <message>
        <source>epoch %1 is marked as one that is still being opened, which only the newest can be, and never the first: its row was changed</source>
        <translation>第 %1 轮被标记为仍在打开，只有最新一轮可能如此，第一轮从不：其行被改动过</translation>
    </message>
    <message>
        <source>the table %1 has %2 rows, it must have one; &apos;furrowctl doctor %3 --repair&apos; makes the tracker anew</source>
        <translation>表 %1 有 %2 行，应当只有一行；“furrowctl doctor %3 --repair”会重新生成账本</translation>
    </message>
    <message>
        <source>the events close %1 epochs, and %2 are marked as closed; &apos;furrowctl doctor %3 --repair&apos; counts anew</source>
        <translation>事件关闭了 %1 轮，而有 %2 轮标记为已关闭；“furrowctl doctor %3 --repair”会重新计数</translation>
    </message>
    <message>
        <source>the meter %1 of epoch %2 says %3, the rows of its chunks say %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation>第 %2 轮的计数 %1 为 %3，其数据段的行给出 %4；“furrowctl doctor %5 --repair”会重新计数</translation>
    </message>
    <message>
        <source>the tracker has no row of block %1, and one of block %2; &apos;furrowctl doctor %3 --repair&apos; plans the data anew</source>
        <translation>账本没有块 %1 的行，却有块 %2 的行；“furrowctl doctor %3 --repair”会重新规划数据</translation>
    </message>
    <message>
        <source>the tracker counts %1 known blocks and %2 prepared ones, it has %3 and %4; &apos;furrowctl doctor %5 --repair&apos; counts anew</source>
        <translation>账本计有 %1 个已知块和 %2 个已准备块，实际有 %3 和 %4 个；“furrowctl doctor %5 --repair”会重新计数</translation>
    </message>
    <message>
        <source>the total %1 of the run says %2, its chunks, claims and parts say %3; &apos;furrowctl doctor %4 --repair&apos; counts anew</source>
        <translation>运行的总数 %1 为 %2，其数据段、领取和部分给出 %3；“furrowctl doctor %4 --repair”会重新计数</translation>
    </message>
    <message>
        <source>the tracker lacks its control row; run `furrowctl doctor %1 --repair`</source>
        <translation>账本缺少控制行；请运行 `furrowctl doctor %1 --repair`</translation>
    </message>
    <message>
        <source>%1 It came so %2 times in a row and is not fetched again in this attempt.</source>
        <translation>%1 它连续 %2 次都是这样到达的，本次尝试中不再获取。</translation>
    </message>
    <message>
        <source>It could not be asked whether the files of %1 are as they were when the run was made. What of them lies in the cache is trained, the rest is waited for. %2</source>
        <translation>无法询问 %1 的文件是否仍与创建运行时相同。缓存中已有的部分会训练，其余部分等待。%2</translation>
    </message>
    <message>
        <source>%1 other rows of block %2, which was prepared with them: %3</source>
        <translation>块 %2 的另外 %1 行，该块曾与它们一起准备：%3</translation>
    </message>
    <message>
        <source>%1 With them %2 other rows are left out, which were prepared together with them.</source>
        <translation>%1 与之一同准备的另外 %2 行也一并排除。</translation>
    </message>
    <message>
        <source>%1 is a link to %2, where nothing is; bring that back (mount its disk), or remove the link</source>
        <translation>%1 是指向 %2 的链接，而那里什么也没有；请恢复它（挂载其磁盘），或移除该链接</translation>
    </message>
    <message>
        <source>%1 is not asked: the secret that goes with the request has a line break or another control character in it. Set it again (HF_TOKEN, or the keys of the store), as one line.</source>
        <translation>不向 %1 发出请求：随请求发送的密钥中有换行或其他控制字符。请将它（HF_TOKEN 或存储的密钥）重新设置为一行。</translation>
    </message>
    <message>
        <source>%1 The next resume makes it again.</source>
        <translation>%1 下次恢复时会重新生成它。</translation>
    </message>
    <message>
        <source>the source: the list of duplicates, %1, is not there or is damaged, and without it no block can be prepared</source>
        <translation>数据源：重复文本列表 %1 不存在或已损坏，没有它就无法准备任何块</translation>
    </message>
    <message>
        <source>block %1: its plan has the same place of its source twice, or ends before its own rows do: it was changed by hand</source>
        <translation>块 %1：其计划两次包含数据源的同一位置，或在自身各行之前就结束：它被手动更改过</translation>
    </message>
    <message>
        <source>%1 goes on after block %2, which the tracker calls the last one: blocks were taken out of it</source>
        <translation>%1 在块 %2 之后还有内容，而账本称该块为最后一块：有块从账本中被移除</translation>
    </message>
    <message>
        <source>the tracker calls its data complete with %1 blocks, and its last snapshot (%2) knows %3: blocks were taken out of it</source>
        <translation>账本称其数据以 %1 个块为完整，而其最后的快照（%2）知道 %3 个：有块从账本中被移除</translation>
    </message>
    <message>
        <source>Which chunks the parent run trained is taken from parent.json, which nothing proves: this run was made by a version that kept no hash of it.</source>
        <translation>父运行训练过哪些数据段取自 parent.json，而没有任何东西能证明它：此运行由不保存其哈希的版本创建。</translation>
    </message>
    <message>
        <source>%1, which are left out</source>
        <translation>%1（将被排除）</translation>
    </message>
    <message>
        <source>%1, which are trained again</source>
        <translation>%1（将再次训练）</translation>
    </message>
    <message>
        <source>chunks of block %1 that the parent run trained: by the tracker %2, by parent.json %3</source>
        <translation>块 %1 中由父运行训练过的数据段：账本为 %2，parent.json 为 %3</translation>
    </message>
    <message>
        <source>%1 is not the one that this run began with: %2. It says which chunks the parent run trained. Put it back from a copy of the run.</source>
        <translation>%1 不是此运行开始时的那个文件：%2。它记录父运行训练过哪些数据段。请从运行的副本中恢复它。</translation>
    </message>
    <message>
        <source>the chunks of block %1 are written as nobody writes them</source>
        <translation>块 %1 的数据段写法不是任何程序会写出的形式</translation>
    </message>
    <message>
        <source>chunks in its list: %1, by its own count: %2</source>
        <translation>其列表中的数据段：%1，其自身计数：%2</translation>
    </message>
    <message>
        <source>it is not there</source>
        <translation>它不存在</translation>
    </message>
    <message>
        <source>the hash of its list is not the one that run.json keeps</source>
        <translation>其列表的哈希与 run.json 保存的不同</translation>
    </message>
    <message>
        <source>tracker and parent.json disagree (%1), and nothing proves one of them. Chunks would be left out or trained by the wrong one. Put a copy of %2 or of %3 back from before.</source>
        <translation>账本与 parent.json 不一致（%1），且没有任何东西能证明其中之一。数据段可能会按错误的一方被排除或训练。请恢复 %2 或 %3 之前的副本。</translation>
    </message>
    <message>
        <source>the list of the chunks that the parent run trained was changed, and parent.json cannot say how: %1</source>
        <translation>父运行训练过的数据段列表被改动，而 parent.json 无法说明如何改动：%1</translation>
    </message>
    <message>
        <source>checkpoint %1 has another manifest by the tracker than by its last snapshot (%2): one of the two was changed by hand, or the manifest together with the tracker</source>
        <translation>检查点 %1 在账本中的清单与账本最近一次快照（%2）中的不同：两者之一被手工改动过，或清单与账本被一并改动</translation>
    </message>
    <message>
        <source>which chunks the parent run trained, but for tracker and parent.json against each other: this run was made by a version that kept no hash of the list</source>
        <translation>父运行训练过哪些数据段（仅将账本与 parent.json 相互比对）：此运行由不保存该列表哈希的版本创建</translation>
    </message>
    <message>
        <source>What went into the weights of %1 cannot be held against its proof: %2. Nothing was changed. Put the manifest and the tracker back from a copy of the run and resume; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and nothing says so any more.</source>
        <translation>进入 %1 权重的内容无法与其证明核对：%2。未作任何更改。请从运行的副本恢复清单和账本再恢复运行；或用“furrowctl resume %3 --accept-loss”仅凭账本继续，此后不再有任何地方指出这一点。</translation>
    </message>
    <message>
        <source>Checkpoint %1 was marked damaged and is whole: it is taken back with 1 chunk.</source>
        <translation>检查点 %1 曾被标记为损坏，其实完好：已连同 1 个数据段一起收回。</translation>
    </message>
    <message>
        <source>%1 Its chunk is free again.</source>
        <translation>%1 它的数据段又空闲了。</translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains none again.</source>
        <translation>它保留 1 个数据段，不重新训练任何数据段。</translation>
    </message>
    <message>
        <source>It keeps 1 chunk and trains %1 again: %2.</source>
        <translation>它保留 1 个数据段，重新训练 %1 个：%2。</translation>
    </message>
    <message>
        <source>a person stopped it, and %1</source>
        <translation>有人停止了它，并且 %1</translation>
    </message>
    <message>
        <source>it was asked to end (SIGTERM: a stop, a shut-down or a log-out), and %1</source>
        <translation>它被要求结束（SIGTERM：停止、关机或注销），并且 %1</translation>
    </message>
    <message>
        <source>Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). It has said nothing for %3. SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, in about %4, or as soon as others wait for it, it is ended and started again.</source>
        <translation>工作进程 %1 停住了：有人暂停了进程 %2（Ctrl+Z、SIGSTOP、调试器）。它已经 %3 没有动静。SIGCONT（`fg`、`kill -CONT`）让它继续；当它的租期结束（约 %4 后），或一旦有其他进程等它，它就会被结束并重新启动。</translation>
    </message>
    <message>
        <source>the feeder stands still</source>
        <translation>供数进程停住了</translation>
    </message>
    <message>
        <source>The feeder stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then no block is prepared. When workers wait for data, it is ended and started again.</source>
        <translation>供数进程停住了：有人暂停了进程 %1（Ctrl+Z、SIGSTOP、调试器）。SIGCONT（`fg`、`kill -CONT`）可让它继续；在此之前不会准备任何块。当工作进程等待数据时，它会被结束并重新启动。</translation>
    </message>
    <message>
        <source>A process that cannot be seen from here, perhaps in another container, holds the run.</source>
        <translation>一个从这里看不到的进程（可能在另一个容器中）持有此运行。</translation>
    </message>
    <message>
        <source>The supervisor (process %1) holds the run.</source>
        <translation>监督进程（进程 %1）持有此运行。</translation>
    </message>
    <message>
        <source>Resuming asks for it again.</source>
        <translation>恢复运行时会再次请求。</translation>
    </message>
    <message>
        <source>a part of the data cannot be read (%1). Resuming tries it again.</source>
        <translation>一部分数据无法读取（%1）。恢复运行时会重试。</translation>
    </message>
    <message>
        <source>the supervisor ended it: %1</source>
        <translation>监督进程结束了它：%1</translation>
    </message>
    <message>
        <source>it ended its work and did not exit</source>
        <translation>它完成了工作却没有退出</translation>
    </message>
    <message>
        <source>it stood still while it started</source>
        <translation>它在启动时停住了</translation>
    </message>
    <message>
        <source>%1 ended: %2. See %3 for more.</source>
        <translation>%1 已结束：%2。详情见 %3。</translation>
    </message>
    <message>
        <source>%1: its block has 1 chunk; the number of the chunk or the row of the block was changed</source>
        <translation>%1：它的块有 1 个数据段；数据段的编号或块的那一行被改过</translation>
    </message>
    <message>
        <source>epoch %1 leaves out 1 chunk that the parent run trained (parent.json names it)</source>
        <translation>第 %1 轮略去了父运行训练过的 1 个数据段（parent.json 中有其名称）</translation>
    </message>
    <message>
        <source>1 chunk of epoch %1 is in the weights of the parent run too: this run is a new pass (parent_chunks=again)</source>
        <translation>第 %1 轮的 1 个数据段也在父运行的权重中：本次运行是新的一遍（parent_chunks=again）</translation>
    </message>
    <message>
        <source>epoch %1 is closed although 1 chunk is left</source>
        <translation>第 %1 轮已关闭，但还剩 1 个数据段</translation>
    </message>
    <message>
        <source>checkpoint %1 is not older than what round %2 of merging gave, and is said to have been given to it</source>
        <translation>检查点 %1 并不早于第 %2 轮合并的结果，却被记为该轮的输入</translation>
    </message>
    <message>
        <source>worker process %1 is said to have contributed to round %2 of merging for a replica that it did not train</source>
        <translation>工作进程 %1 被记为替一个并非由它训练的副本参与了第 %2 轮合并</translation>
    </message>
    <message>
        <source>%1 is %2, and its last event says that it is %3: its row was changed from outside</source>
        <translation>%1 的状态为 %2，而按其最后一个事件应为 %3：其行被外部改过</translation>
    </message>
    <message>
        <source>%1: the tracker had other rows, windows or tokens than its block; they were stored anew from it</source>
        <translation>%1：账本中的行数、窗口数或词元数与其块不符；已按该块重新写入</translation>
    </message>
    <message>
        <source>there is no tracker %1; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove</source>
        <translation>没有账本 %1；`furrowctl doctor %2 --repair` 可按检查点所证明的内容重建</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left untrained by name: %1 in %2, %3 in %4.</source>
        <translation>第一轮中指名不训练的数据段：%1 个在 %2 中，%3 个在 %4 中。</translation>
    </message>
    <message>
        <source>%1 is not a folder, and a workspace keeps a folder there. Move away what has its name.</source>
        <translation>%1 不是文件夹，而工作区在那里要放一个文件夹。请移走占用该名称的东西。</translation>
    </message>
    <message>
        <source>The tracker is locked by another program, %1. Let it go on or end it.</source>
        <translation>账本被另一个程序锁定：%1。请让它继续运行或结束它。</translation>
    </message>
    <message>
        <source>1 chunk that a person had left out would be trained; it is left out again.</source>
        <translation>有人已排除的 1 个数据段本会被训练；它再次被排除。</translation>
    </message>
    <message>
        <source>1 chunk that a person left out is in these weights all the same: the weights were made without knowledge of that. &apos;furrowctl resume RUN --from-checkpoint&apos; goes back to before it.</source>
        <translation>有人排除的 1 个数据段仍在这些权重中：生成权重时并不知道此事。“furrowctl resume RUN --from-checkpoint”可退回到它之前。</translation>
    </message>
    <message>
        <source>%1 The run is still being trained. To stop it, end its supervisor, process %2: it saves and ends with all its workers.</source>
        <translation>%1 该运行仍在训练。要停止它，请结束其监督进程（进程 %2）：它会保存，并与其所有工作进程一起结束。</translation>
    </message>
    <message>
        <source>1 as its worker ended before a checkpoint had it</source>
        <translation>1 个：其工作进程在存入检查点之前已结束</translation>
    </message>
    <message>
        <source>%1 as their workers ended before a checkpoint had them</source>
        <translation>%1 个：其工作进程在存入检查点之前已结束</translation>
    </message>
    <message>
        <source>1 as the run went back to an older checkpoint</source>
        <translation>1 个：运行回到了较早的检查点</translation>
    </message>
    <message>
        <source>%1 as the run went back to an older checkpoint</source>
        <translation>%1 个：运行回到了较早的检查点</translation>
    </message>
    <message>
        <source>1 as the checkpoint that had it was damaged, gone or left out of a merge</source>
        <translation>1 个：所在的检查点已损坏、已不存在或未参与合并</translation>
    </message>
    <message>
        <source>%1 as the checkpoints that had them were damaged, gone or left out of a merge</source>
        <translation>%1 个：所在的检查点已损坏、已不存在或未参与合并</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read cannot be used: %2.</source>
        <translation>读取的 %1 个样本中有 1 个无法使用：%2。</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is filtered.</source>
        <translation>读取的 %1 个样本中有 1 个被过滤。</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is a repeat.</source>
        <translation>读取的 %1 个样本中有 1 个是重复的。</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read is longer than a window.</source>
        <translation>读取的 %1 个样本中有 1 个比一个窗口长。</translation>
    </message>
    <message>
        <source>1 of the %1 samples that were read has bytes or escapes that are not characters.</source>
        <translation>读取的 %1 个样本中有 1 个含有不是字符的字节或转义。</translation>
    </message>
    <message>
        <source>1 more block is not inspected: its source cannot be reached now</source>
        <translation>还有 1 个块没有检查：现在无法访问它的来源</translation>
    </message>
    <message>
        <source>1 block prepared once more from %1 of text, and the fingerprints of its samples, chunk by chunk</source>
        <translation>从 %1 文本重新准备了 1 个块，并逐段比较其样本的指纹</translation>
    </message>
    <message>
        <source>who wrote 1 checkpoint and its loss on held-out text: its manifest is of a version that did not keep it</source>
        <translation>1 个检查点由谁写出及其在留出文本上的损失：它的清单来自没有保存这些的版本</translation>
    </message>
    <message>
        <source>weights of 1 checkpoint that the run itself removed, or left, while it was inspected</source>
        <translation>1 个检查点的权重：检查期间运行自己将其移除或放弃</translation>
    </message>
    <message>
        <source>the manifest of 1 more checkpoint could not be inspected</source>
        <translation>还有 1 个检查点的清单无法检查</translation>
    </message>
    <message>
        <source>the manifests of %1 more checkpoints could not be inspected</source>
        <translation>还有 %1 个检查点的清单无法检查</translation>
    </message>
    <message>
        <source>The manifest of checkpoint %1 is gone from %2: nothing but the tracker proves any more what it trained, and no repair can make it anew. Put it back from a copy of the run if you have one; it goes on without it.</source>
        <translation>%2 中缺少检查点 %1 的清单：只剩账本能证明它训练了什么，修复也无法重新生成账本。若有运行的副本，请从中恢复；没有它运行也会继续。</translation>
    </message>
    <message>
        <source>1 of the kept chunks is left out by name, as its steps were not finite: nothing of it is in the weights.</source>
        <translation>保留的数据段中有 1 个因训练步不是有限值而按名略去：权重中没有它的任何内容。</translation>
    </message>
    <message>
        <source>%1 of the kept chunks are left out by name, as their steps were not finite: nothing of them is in the weights.</source>
        <translation>保留的数据段中有 %1 个因训练步不是有限值而按名略去：权重中没有它们的任何内容。</translation>
    </message>
    <message>
        <source>Samples of such parts that are left out by name, as their steps were not finite: %1.</source>
        <translation>这些部分中因训练步不是有限值而按名略去的样本：%1。</translation>
    </message>
    <message>
        <source>1 worker is still alive. What it saves before it ends is kept too.</source>
        <translation>还有 1 个工作进程存活。它结束前保存的内容也会保留。</translation>
    </message>
    <message>
        <source>after a block; 1 known chunk of the epoch is left, and what was not read yet</source>
        <translation>在一个块之后；该轮还剩 1 个已知数据段，以及尚未读取的部分</translation>
    </message>
    <message>
        <source>after a block; 1 chunk of the epoch is left</source>
        <translation>在一个块之后；该轮还剩 1 个数据段</translation>
    </message>
    <message>
        <source>1 row of block %1: %2</source>
        <translation>块 %1 的 1 行：%2</translation>
    </message>
    <message>
        <source>the disk of %1 has %2 free, and %3 are needed: %4 of them stay free for the tracker. Free some space</source>
        <translation>%1 所在的磁盘剩余 %2，需要 %3：其中 %4 要留给账本。请腾出一些空间</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put the keys into the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation>%1 为 %2，该地址带有密钥或签名，它会保存在运行中。请将密钥放入环境变量 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY（恢复运行时也需要），并在此处填写 %3。带签名的 https:// 地址可放在 FURROW_DATA_SECRET 中。</translation>
    </message>
    <message>
        <source>%1 has %2, an address with a key or a signature in it, which would be kept in the run. Put an access token into the environment variable CLOUDSDK_AUTH_ACCESS_TOKEN, also when the run is resumed, and give here %3. An https:// address that is signed can stand in FURROW_DATA_SECRET.</source>
        <translation>%1 为 %2，该地址带有密钥或签名，它会保存在运行中。请将访问令牌放入环境变量 CLOUDSDK_AUTH_ACCESS_TOKEN（恢复运行时也需要），并在此处填写 %3。带签名的 https:// 地址可放在 FURROW_DATA_SECRET 中。</translation>
    </message>
    <message>
        <source>Line %1 of %2</source>
        <translation>%2 的第 %1 行</translation>
    </message>
    <message>
        <source>It takes longer to see whether the files of the data are as they were when the run was made. A resume reads all of them for that, and ends or leaves out what changed (%1).</source>
        <translation>要看清数据文件是否仍与创建运行时相同，需要更长时间。恢复时会为此读取所有文件，有变化则结束，或将其略去（%1）。</translation>
    </message>
    <message>
        <source>samples that the start weights have and that are trained again, since the parent run trained their chunks in part: %1, chunks: %2 (by parent.json)</source>
        <translation>起始权重中已有、但由于父运行只训练了所在数据段的一部分而重新训练的样本：%1 个，数据段：%2 个（依据 parent.json）</translation>
    </message>
    <message>
        <source>the optimiser steps of claims (%1) one after the other, and those of their parts against the steps of checkpoints (%2)</source>
        <translation>各领取（%1）的优化步逐个相接，其部分的步数与检查点（%2）的步数对照</translation>
    </message>
    <message>
        <source>%1 has the tracker of a run and no run.json: it was deleted or moved. Put it back from a copy of the run; nothing else says which files the run was made of.</source>
        <translation>%1 有运行的账本，但没有 run.json：它被删除或移走了。请从该运行的副本中恢复它；没有别的地方记录该运行由哪些文件构成。</translation>
    </message>
    <message>
        <source>%1 is the folder of a run. Name one of its checkpoints, as --init-from %2/checkpoints/NAME; `furrowctl brain show %3` says which is the newest.</source>
        <translation>%1 是一个运行的文件夹。请指定其中一个检查点，例如 --init-from %2/checkpoints/名称；`furrowctl brain show %3` 会显示最新的检查点。</translation>
    </message>
    <message>
        <source>The name of the folder of the run holds what looks like a password or a token, which would be shown everywhere. Name another folder with --out.</source>
        <translation>运行文件夹的名称含有疑似密码或令牌的内容，它会到处显示。请用 --out 指定另一个文件夹。</translation>
    </message>
    <message>
        <source>The name of a data file holds the secret of the environment variable %1, which would be kept in the run. Rename the file.</source>
        <translation>某个数据文件的名称含有环境变量 %1 的机密，它会保存在运行中。请重命名该文件。</translation>
    </message>
    <message>
        <source>The name of a data file holds an address with a password or a signature in it, which would be kept in the run. Rename the file.</source>
        <translation>某个数据文件的名称含有带密码或签名的地址，它会保存在运行中。请重命名该文件。</translation>
    </message>
    <message>
        <source>Files that changed: %1.</source>
        <translation>有变化的文件：%1。</translation>
    </message>
    <message>
        <source>%1 A resume with %2 leaves out by name what is not prepared of that. Chunks of the epochs that are open: %3; rows of other chunks: %4.</source>
        <translation>%1 以 %2 恢复时，其中尚未准备的部分会被按名略去。未结束轮次的数据段：%3；其他数据段的行：%4。</translation>
    </message>
    <message>
        <source>Not all of the data is in blocks yet. What it leaves out of the rest is not known, and is not counted here.</source>
        <translation>并非所有数据都已分成块。其余部分会略去多少尚不可知，未计入此处。</translation>
    </message>
    <message>
        <source>%1 A run that needs it waits for its disk or share.</source>
        <translation>%1 需要它的运行会等待其磁盘或共享。</translation>
    </message>
    <message>
        <source>The run goes on without what could not be read: %1</source>
        <translation>运行将在缺少无法读取的内容的情况下继续：%1</translation>
    </message>
    <message>
        <source>Checkpoints have a part of %1 of the chunks that are left out (%2 of their %3 samples), which is kept; the rest is not trained.</source>
        <translation>检查点中有 %1 个被排除的数据段的一部分（其 %3 个样本中的 %2 个），这部分保留；其余不训练。</translation>
    </message>
    <message>
        <source>All epochs before epoch %1 are kept.</source>
        <translation>第 %1 轮之前的各轮全部保留。</translation>
    </message>
    <message>
        <source>what was trained since the last checkpoints is trained again</source>
        <translation>上次检查点之后训练的内容将重新训练</translation>
    </message>
    <message>
        <source>of weights with 1 step; %1</source>
        <translation>基于 1 步的权重；%1</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens that are trained too, for the data is too small to hold text out; %2</source>
        <translation>权重已训练 1 步，在 %1 个也参与训练的词元上评估（数据太少，无法留出文本）；%2</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 tokens of held-out text; %2</source>
        <translation>基于 1 步的权重，在留出文本的 %1 个词元上评估；%2</translation>
    </message>
    <message>
        <source>%1 is running. Stop it first.</source>
        <translation>%1 正在运行。请先停止。</translation>
    </message>
    <message>
        <source>The workers are started again, together, at %1, once all of them have ended.</source>
        <translation>所有工作进程都结束后，将于 %1 一起重新启动。</translation>
    </message>
    <message>
        <source>The workers were started together at %1; not all of them have begun yet.</source>
        <translation>工作进程已于 %1 一起启动，尚未全部开始工作。</translation>
    </message>
    <message>
        <source>Worker %1 was started at %2 and has not begun yet.</source>
        <translation>工作进程 %1 已于 %2 启动，尚未开始工作。</translation>
    </message>
    <message>
        <source>Worker %1 is started again at %2.</source>
        <translation>工作进程 %1 将于 %2 重新启动。</translation>
    </message>
    <message>
        <source>The newest weights are read before the worker that gave up is started again.</source>
        <translation>在重新启动放弃的工作进程之前，先读取最新的权重。</translation>
    </message>
    <message>
        <source>the tracker in one moment: the states, claims, parts and checkpoints of its chunks (%1)</source>
        <translation>同一时刻的账本：其数据段（%1 个）的状态、领取、部分和检查点</translation>
    </message>
    <message>
        <source>it is to be trained again</source>
        <translation>尚待重新训练</translation>
    </message>
    <message>
        <source>it was given out again</source>
        <translation>已重新分发</translation>
    </message>
    <message>
        <source>it was trained again, and no checkpoint has it yet</source>
        <translation>已重新训练，尚无检查点包含它</translation>
    </message>
    <message>
        <source>it was trained again</source>
        <translation>已重新训练</translation>
    </message>
    <message>
        <source>it is %1 now</source>
        <translation>现在为%1</translation>
    </message>
    <message>
        <source>trainings of %1 lost with their weights: %2; %3</source>
        <translation>%1 的训练随其权重丢失：%2；%3</translation>
    </message>
    <message>
        <source>no further epoch is to be trained</source>
        <translation>不再有需要训练的轮次</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that are left out because the parent run trained them: %1 in %2, %3 in %4.</source>
        <translation>第一轮中因父运行已训练而略去的数据段：%2 中 %1 个，%4 中 %3 个。</translation>
    </message>
    <message>
        <source>Chunks of the first epoch that %1 trained and no weights have any more: %2. They are not compared.</source>
        <translation>%1 在第一个轮次中训练过、但已不在任何权重中的数据段：%2 个。不参与比较。</translation>
    </message>
    <message>
        <source>%1 was made of other data.</source>
        <translation>%1 是用其他数据生成的。</translation>
    </message>
    <message>
        <source>process %1 (stopped) of %2</source>
        <translation>%2 的进程 %1（已暂停）</translation>
    </message>
    <message>
        <source>process %1 of %2</source>
        <translation>%2 的进程 %1</translation>
    </message>
    <message>
        <source>process %1 (%2, stopped) of %3</source>
        <translation>%3 的进程 %1（%2，已暂停）</translation>
    </message>
    <message>
        <source>process %1 (%2) of %3</source>
        <translation>%3 的进程 %1（%2）</translation>
    </message>
    <message>
        <source>checkpoints that are no longer needed can be removed again</source>
        <translation>不再需要的检查点又可以删除了</translation>
    </message>
    <message>
        <source>permission denied: %1 is yours, and its rights keep you out; give them back (chmod -R u+rwX)</source>
        <translation>权限被拒绝：%1 属于您，但其权限把您挡在外面；请恢复权限（chmod -R u+rwX）</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2 and is for the group %3, which you are not in; they or an administrator can add you; log in again afterwards</source>
        <translation>权限被拒绝：%1 属于 %2，供用户组 %3 使用，而您不在该组；其所有者或管理员可以将您加入，之后请重新登录</translation>
    </message>
    <message>
        <source>permission denied: the folder %1 belongs to %2, who can let a group enter it (chmod g+x)</source>
        <translation>权限被拒绝：文件夹 %1 属于 %2，其可允许用户组进入（chmod g+x）</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group read it (chmod -R g+rX)</source>
        <translation>权限被拒绝：%1 属于 %2，其可允许用户组读取（chmod -R g+rX）</translation>
    </message>
    <message>
        <source>permission denied: %1 belongs to %2, who can let a group write it (chmod -R g+rwX); or choose another place</source>
        <translation>权限被拒绝：%1 属于 %2，其可允许用户组写入（chmod -R g+rwX）；或选择其他位置</translation>
    </message>
    <message>
        <source>Nothing is lost: the right to read it is all that is missing. Grant it, then resume.</source>
        <translation>没有任何丢失：只是缺少读取权限。授予权限后再恢复。</translation>
    </message>
    <message>
        <source>row %1 (counted from 0) of %2 cannot be read: %3</source>
        <translation>%2 的第 %1 行（从 0 计数）无法读取：%3</translation>
    </message>
    <message>
        <source>%1 rows from row %2 (counted from 0) of %3 on cannot be read: %4</source>
        <translation>%3 中从第 %2 行（从 0 计数）起的 %1 行无法读取：%4</translation>
    </message>
    <message>
        <source>The data has too few samples (%1): blocks of %2 would be fewer than %3, so a block has %4.</source>
        <translation>数据的样本太少（%1）：若每块 %2 个则少于 %3 块，因此每块 %4 个。</translation>
    </message>
    <message>
        <source>%1 Blocks with rows of it, which could not be inspected: %2.</source>
        <translation>%1 含有其中各行、无法检查的块：%2。</translation>
    </message>
    <message>
        <source>%1 The run left out by name what was not prepared of it. Blocks that were prepared before, and are compared with nothing: %2.</source>
        <translation>%1 运行已按名称排除其中尚未准备的部分。此前已准备、不与任何内容比较的块：%2。</translation>
    </message>
    <message>
        <source>%1 It is not the file that the run was made of. Blocks with rows of it, which could not be compared: %2.</source>
        <translation>%1 它不是创建运行时所用的文件。含有其中各行、无法比较的块：%2。</translation>
    </message>
    <message>
        <source>%1 (checkpoints have a part of %2 of these: %3 of their %4 samples are kept)</source>
        <translation>%1（其中 %2 个已有一部分在检查点中：保留 %4 个样本中的 %3 个）</translation>
    </message>
    <message>
        <source>%1 cannot be written; check the permissions of its folder, and whether its disk is read-only</source>
        <translation>无法写入 %1；请检查其文件夹的权限，以及其磁盘是否为只读</translation>
    </message>
    <message>
        <source>%1 cannot be opened; check the permissions of its folder</source>
        <translation>无法打开 %1；请检查其文件夹的权限</translation>
    </message>
    <message>
        <source>The queue is run by %1, who may not write %2 and could never start it. Let the group write it (chmod -R g+rwX), or add it when that process has ended.</source>
        <translation>队列由 %1 运行，其不能写入 %2，因而永远无法启动它。请允许用户组写入（chmod -R g+rwX），或等该进程结束后再添加。</translation>
    </message>
    <message>
        <source>has the same answer as chosen and as rejected</source>
        <translation>的 chosen 与 rejected 是同一回答</translation>
    </message>
    <message>
        <source>has a text and a list of messages as its two answers</source>
        <translation>的两个回答一个是文本，一个是消息列表</translation>
    </message>
    <message>
        <source>has no prompt: its chosen and rejected messages differ from the first on</source>
        <translation>没有提示：chosen 和 rejected 的消息从第一条起就不同</translation>
    </message>
    <message>
        <source>has no turn of the assistant in %1</source>
        <translation>在 %1 中没有 assistant 回合</translation>
    </message>
    <message>
        <source>is not a pair of answers</source>
        <translation>不是一对回答</translation>
    </message>
    <message>
        <source>%1 is %2, which does not work with %3 %4; allowed is %5.</source>
        <translation>%1 为 %2，不能与 %3 %4 一起使用；允许的是 %5。</translation>
    </message>
    <message>
        <source>%1 is 0, but %2 %3 compares the model with its start weights, which are there only beside the pairs of LoRA. Set it, such as to 16.</source>
        <translation>%1 为 0，但 %2 %3 要把模型与初始权重比较，而只有使用 LoRA 矩阵对时初始权重才保留。请设置它，例如 16。</translation>
    </message>
    <message>
        <source>%1 is %2, but %3 %4 reads the columns chosen and rejected, and prompt. Leave it out.</source>
        <translation>%1 为 %2，但 %3 %4 读取列 chosen、rejected 和 prompt。请去掉它。</translation>
    </message>
    <message>
        <source>%1 is text, and %2 needs pairs of answers: rows with the columns chosen and rejected, and perhaps prompt. Write them as jsonl, or leave that setting out.</source>
        <translation>%1 是文本，而 %2 需要成对的回答：带有列 chosen 和 rejected、可选 prompt 的行。请写成 jsonl，或去掉该设置。</translation>
    </message>
    <message>
        <source>%1 has not the columns chosen and rejected, which %2 needs. Its columns are: %3. Name a file of pairs, or leave that setting out.</source>
        <translation>%1 没有 %2 所需的列 chosen 和 rejected。其列为：%3。请指定成对回答的文件，或去掉该设置。</translation>
    </message>
    <message>
        <source>%1 holds pairs of answers, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl.</source>
        <translation>%1 包含成对的回答，只能从 jsonl、json、csv、tsv 和 Parquet 读取。请写成 jsonl。</translation>
    </message>
    <message>
        <source>The answers of %1 are messages, and there is no chat template that writes them. Name one with chat_template, such as chatml.</source>
        <translation>%1 的回答是消息，但没有把它们写出的对话模板。请用 chat_template 指定一个，例如 chatml。</translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), written by the chat template: the chosen one is learnt to be preferred.</source>
        <translation>各行是成对的回答（列 chosen 和 rejected），由对话模板写出：学习偏好被选中的回答。</translation>
    </message>
    <message>
        <source>The rows are pairs of answers (columns chosen and rejected), texts as they stand: the chosen one is learnt to be preferred.</source>
        <translation>各行是成对的回答（列 chosen 和 rejected），按原文使用：学习偏好被选中的回答。</translation>
    </message>
    <message>
        <source>%1 holds pairs of answers (columns chosen and rejected). %2 learns from them which one is preferred; %3 trains the chosen ones as plain text.</source>
        <translation>%1 包含成对的回答（列 chosen 和 rejected）。%2 从中学习偏好哪一个；%3 把被选中的回答作为纯文本训练。</translation>
    </message>
    <message>
        <source>%1 is %2, and all %3 pairs of answers that pass the filters are too long: an answer with its prompt may have half of that, less one token. Raise it, or set %4 to cut.</source>
        <translation>%1 为 %2，通过过滤的全部 %3 对回答都太长：一个回答连同提示最多占其一半少一个词元。请增大它，或将 %4 设为 cut。</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 pairs that are trained too, for the data is too small to hold any out; %2</source>
        <translation>权重已训练 1 步，在 %1 对也参与训练的回答上评估（数据太少，无法留出）；%2</translation>
    </message>
    <message>
        <source>of weights with 1 step, on %1 held-out pairs of answers; %2</source>
        <translation>基于 1 步的权重，在 %1 对留出的回答上评估；%2</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 pairs that are trained too, for the data is too small to hold any out; %3</source>
        <translation>权重已训练 %1 步，在 %2 对也参与训练的回答上评估（数据太少，无法留出）；%3</translation>
    </message>
    <message>
        <source>of weights with %1 steps, on %2 held-out pairs of answers; %3</source>
        <translation>基于 %1 步的权重，在 %2 对留出的回答上评估；%3</translation>
    </message>
    <message>
        <source>margin %1, the chosen answer is preferred in %2 % of %3 held-out pairs</source>
        <translation>差距 %1，在 %3 对留出的回答中有 %2 % 偏好被选中的回答</translation>
    </message>
    <message>
        <source>pairs of answers are compared with the start weights of a run, and this model does not have them</source>
        <translation>成对的回答要与训练的初始权重比较，而此模型没有初始权重</translation>
    </message>
    <message>
        <source>%1 %2 has pairs of LoRA of its own, which the reference would lack. Export it (&apos;furrowctl export --format huggingface&apos;) and start from that folder.</source>
        <translation>%1 %2 自带 LoRA 矩阵对，参考中会缺少它们。请导出（&apos;furrowctl export --format huggingface&apos;），再从该文件夹开始。</translation>
    </message>
    <message>
        <source>As many blocks are complete as %1 wants: %2. The attempt would end at once; raise it, or write 0 for no limit.</source>
        <translation>已完成的块数达到 %1 的要求：%2。该次尝试会立即结束；请提高它，或写 0 表示不限。</translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2&apos; says whether it can be made again; else put it back from a copy of the run.</source>
        <translation>%1 不存在。“furrowctl doctor %2”会说明能否重新生成；否则请从运行的副本中放回。</translation>
    </message>
    <message>
        <source>The evaluation set %1 is damaged. &apos;furrowctl doctor %2&apos; says whether it can be made again; else copy the file from a backup, or start a new run.</source>
        <translation>评估集 %1 已损坏。“furrowctl doctor %2”会说明能否重新生成；否则请从备份中复制该文件，或开始新的运行。</translation>
    </message>
    <message>
        <source>SHA-256 of the manifest, also against what its children name, and who wrote it, kind, step, tokens, size, loss on held-out text and parents of each of %1 checkpoints behind the newest weights (%2 of them without weights, as the keep policy wants); and whether there are checkpoints that the tracker does not know</source>
        <translation>最新权重背后 %1 个检查点（其中 %2 个按保留策略已无权重）各自清单的 SHA-256（也与其后继所记的对照）、由谁写入、种类、步数、词元数、大小、留出文本上的损失和来源；以及是否有账本不知道的检查点</translation>
    </message>
    <message>
        <source>%1, the frozen weights of checkpoint %2</source>
        <translation>%1，即检查点 %2 的冻结权重</translation>
    </message>
    <message>
        <source>%1, the frozen weights of %2 checkpoints (the newest is %3)</source>
        <translation>%1，即 %2 个检查点的冻结权重（最新的是 %3）</translation>
    </message>
    <message>
        <source>%1, is not what was written: its size or SHA-256 differs</source>
        <translation>%1，与写入时不同：其大小或 SHA-256 不一致</translation>
    </message>
    <message>
        <source>%1, could not be inspected: %2</source>
        <translation>%1，无法检查：%2</translation>
    </message>
    <message>
        <source>Rows of trained chunks had other fingerprints of their samples than their blocks, which the source gives as they were recorded; they were taken from these (%1; the first: %2).</source>
        <translation>已训练数据段的行与其块中的样本指纹不同，而数据源给出的块与记录一致；已改用块中的指纹（%1 个；第一个：%2）。</translation>
    </message>
    <message>
        <source>the held-out text against the data, which lie elsewhere</source>
        <translation>留出文本与数据的对照：数据在别处</translation>
    </message>
    <message>
        <source>Setting the held-out text aside once more</source>
        <translation>正在再次取出留出文本</translation>
    </message>
    <message>
        <source>the held-out text against the data: %1</source>
        <translation>留出文本与数据的对照：%1</translation>
    </message>
    <message>
        <source>the held-out text against %1, which gives another one now: nothing says what it was when the run was made</source>
        <translation>留出文本与 %1 的对照：它现在给出另一段文本，没有任何东西说明创建运行时它是什么</translation>
    </message>
    <message>
        <source>the held-out text against the data: Furrow %1 set it aside, and this one would set another one aside</source>
        <translation>留出文本与数据的对照：它由 Furrow %1 取出，而本版本会取出另一段</translation>
    </message>
    <message>
        <source>the held-out text in %1 is not what the data of the run give: it was changed together with its hash in run.json and tracker</source>
        <translation>%1 中的留出文本不是该运行的数据所给出的：它与 run.json 和账本中的哈希一起被改动了</translation>
    </message>
    <message>
        <source>what the data gives now is another text (its SHA-256 differs): it has changed</source>
        <translation>数据现在给出的是另一份文本（SHA-256 不同）：数据已改变</translation>
    </message>
    <message>
        <source>%1 is gone or damaged, and cannot be made again: %2. Bring the data back as it was and repair then; or put the file back from a copy of the run: one of the same data and settings has it.</source>
        <translation>%1 缺失或已损坏，且无法重新生成：%2。请把数据恢复原样后再修复；或从运行的副本中放回该文件：数据和设置相同的副本中有它。</translation>
    </message>
    <message>
        <source>%1 was gone and was made again from the data: its SHA-256 is that of the beginning.</source>
        <translation>%1 曾缺失，已由数据重新生成：其 SHA-256 与开始时相同。</translation>
    </message>
    <message>
        <source>%1 was damaged and was made again from the data: its SHA-256 is that of the beginning. The damaged file is kept as %2.</source>
        <translation>%1 曾损坏，已由数据重新生成：其 SHA-256 与开始时相同。损坏的文件保留为 %2。</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the child as it is</source>
        <translation>检查点 %1 的清单不是其后继 %2 所依据的那个：%3 与账本中它的行一起被改动了，因为检查点 %4 是由现在这个后继生成的</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the parent as it is</source>
        <translation>检查点 %1 的清单不是其后继 %2 所依据的那个：%3 与账本中它的行一起被改动了，因为检查点 %4 是由现在这个来源生成的</translation>
    </message>
    <message>
        <source>the manifest of checkpoint %1 is not the one that its child %2 was made from: one of the two was changed together with its row in the tracker, and nothing tells which</source>
        <translation>检查点 %1 的清单不是其后继 %2 所依据的那个：两者之一与账本中它的行一起被改动了，无从得知是哪一个</translation>
    </message>
    <message>
        <source>%1 is not there</source>
        <translation>%1 不存在</translation>
    </message>
    <message>
        <source>%1 is of another run</source>
        <translation>%1 属于另一个运行</translation>
    </message>
    <message>
        <source>%1 cannot be read (%2)</source>
        <translation>%1 无法读取（%2）</translation>
    </message>
    <message>
        <source>the manifests of newest checkpoints (%1) against the last snapshot of the tracker, which alone speaks of them too: %2</source>
        <translation>最新检查点（%1 个）的清单与账本最近一次快照的对照（只有它也提到它们）：%2</translation>
    </message>
    <message>
        <source>%1 is older than they are, or than the tracker that was made anew</source>
        <translation>%1 比它们旧，或比重新生成的账本旧</translation>
    </message>
    <message>
        <source>the held-out text against the data: --deep reads them too</source>
        <translation>留出文本与数据的对照：--deep 也会读取数据</translation>
    </message>
    <message>
        <source>run.json against what the tracker keeps of it, the hashes of tokenizer and held-out text, and that text set aside from the data once more</source>
        <translation>run.json 与账本保存的内容对照，分词器和留出文本的哈希，以及从数据中再次取出的该文本</translation>
    </message>
    <message>
        <source>Checkpoints of %1 contradict each other: %2. Nothing was changed. Put both and the tracker back from a copy of the run and resume, or go back to a checkpoint that is older than both; or &apos;furrowctl resume %3 --accept-loss&apos; goes on by the tracker alone, and &apos;furrowctl audit %4&apos; goes on saying so.</source>
        <translation>%1 的检查点互相矛盾：%2。未作任何更改。请从运行的副本放回这两个检查点和账本再恢复，或回到比两者都旧的检查点；或者用“furrowctl resume %3 --accept-loss”仅按账本继续，而“furrowctl audit %4”会一直指出这一点。</translation>
    </message>
    <message>
        <source>%1: the fingerprints of its samples in %2 are not those that the tracker recorded; as a whole the block is what it recorded, so its row of the chunk is wrong</source>
        <translation>%1：它的样本在%2中的指纹与账本记录的不同；块作为整体与所记录的一致，因此账本中该数据段的行是错的</translation>
    </message>
    <message>
        <source>With it none of the checkpoints that the tracker knows is there and whole any more: training would begin from the start weights. Chunks that it has as trained and that would be trained again: %1. &apos;%2&apos; shows it.</source>
        <translation>这样一来，账本所知的检查点没有一个仍在且完整：训练将从初始权重开始。账本记为已训练、将要重新训练的数据段：%1。“%2”会显示这一点。</translation>
    </message>
    <message>
        <source>With it training would begin from the start weights, for the tracker knows no checkpoint. &apos;%1&apos; shows it.</source>
        <translation>这样一来，训练将从初始权重开始，因为账本不知道任何检查点。“%1”会显示这一点。</translation>
    </message>
    <message>
        <source>With it training would go on from %1. Chunks that the tracker has as trained and that would be trained again: %2. &apos;%3&apos; shows it.</source>
        <translation>这样一来，训练将从 %1 继续。账本记为已训练、将要重新训练的数据段：%2。“%3”会显示这一点。</translation>
    </message>
    <message>
        <source>%1 is not there. &apos;furrowctl doctor %2 --repair&apos; makes it again from the data where that has not changed; else put it back from a copy of the run.</source>
        <translation>%1 不存在。如果数据没有改变，“furrowctl doctor %2 --repair”会由数据重新生成它；否则请从运行的副本中放回。</translation>
    </message>
    <message>
        <source>%1 is not the held-out text this run began with (its SHA-256 differs): losses on it cannot be compared with those before. &apos;furrowctl doctor %2 --repair&apos; puts it aside and makes the original again from the data where that has not changed; else put that back from a copy of the run.</source>
        <translation>%1 不是此运行开始时的留出文本（SHA-256 不同）：其上的损失无法与之前的比较。如果数据没有改变，“furrowctl doctor %2 --repair”会把它移开，并由数据重新生成原件；否则请从运行的副本中放回原件。</translation>
    </message>
    <message>
        <source>Checkpoints that the tracker knows lay in %1 and were moved back: %2.</source>
        <translation>账本所知的检查点曾位于 %1，已移回：%2。</translation>
    </message>
    <message>
        <source>The run folder holds two lines of the run. The newest checkpoints that the tracker %1 knows lie in %2, where a resume by another tracker moved them: %3. In %4 lie manifests of the other line, which it does not know: %5, the newest %6 (step %7, %8).</source>
        <translation>运行文件夹中有此运行的两条线。账本 %1 所知的最新检查点位于 %2，是用另一个账本恢复时移到那里的：%3。%4 中有它不知道的另一条线的清单：%5 个，最新的是 %6（第 %7 步，%8）。</translation>
    </message>
    <message>
        <source>To go on with the other line, put the tracker back that knows it. To go on with this one: &apos;furrowctl doctor %1 --repair --accept-loss&apos; moves its checkpoints back and those of the other line to checkpoints/unknown. &apos;furrowctl resume %2 --accept-loss&apos;, with a larger stopping rule where the tracker has come to its end, does so and trains on.</source>
        <translation>要以另一条线继续，请放回知道它的账本。要以这一条线继续：“furrowctl doctor %1 --repair --accept-loss”会把它的检查点移回，并把另一条线的检查点移到 checkpoints/unknown。“furrowctl resume %2 --accept-loss”（如果账本已到终点，请加上更大的停止规则）会做同样的事并继续训练。</translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes them into the tracker where they belong together; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>如果它们属于一起，“furrowctl doctor %1 --repair”会把它们收入账本；“furrowctl resume %2 --accept-loss”会放弃它们，把它们移到 checkpoints/unknown，并从账本所知的检查点中仍在的部分继续。</translation>
    </message>
    <message>
        <source>&apos;furrowctl doctor %1 --repair&apos; takes the tracker forward from the manifests; &apos;furrowctl resume %2 --accept-loss&apos; gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>“furrowctl doctor %1 --repair”会根据清单推进账本；“furrowctl resume %2 --accept-loss”会放弃它们，把它们移到 checkpoints/unknown，并从账本所知的检查点中仍在的部分继续。</translation>
    </message>
    <message>
        <source>&apos;furrowctl resume %1 --accept-loss&apos; goes on from what is there of the checkpoints that the tracker knows.</source>
        <translation>“furrowctl resume %1 --accept-loss”会从账本所知的检查点中仍在的部分继续。</translation>
    </message>
    <message>
        <source>of a chunk how often its training was lost or failed; and, unless its prepared block is there, before it is trained the fingerprint of its samples and, where they do not lie end to end, into how many windows and tokens it packs</source>
        <translation>数据段的训练丢失或失败的次数；以及，除非其准备好的块还在，训练之前其样本的指纹，样本并非首尾相接时还有它打包成多少窗口和词元</translation>
    </message>
    <message>
        <source>the objectives differ, so losses cannot be compared</source>
        <translation>训练目标不同，损失无法比较</translation>
    </message>
    <message>
        <source>nats per pair</source>
        <translation>奈特/对</translation>
    </message>
    <message>
        <source>nats per token</source>
        <translation>奈特/词元</translation>
    </message>
    <message>
        <source>%1 and %2 have different objectives: their losses, %3 and %4, say nothing of each other.</source>
        <translation>%1 与 %2 的训练目标不同：它们的损失分别以 %3 和 %4 计，彼此不能比较。</translation>
    </message>
</context>
<context>
    <name>CurvesLayer</name>
    <message>
        <source>%1 off scale</source>
        <translation>%1 超出刻度</translation>
    </message>
</context>
<context>
    <name>ErrorText</name>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Something is missing.</source>
        <translation>缺少所需的内容。</translation>
    </message>
    <message>
        <source>A file is damaged.</source>
        <translation>有文件损坏。</translation>
    </message>
    <message>
        <source>Disk error.</source>
        <translation>磁盘错误。</translation>
    </message>
    <message>
        <source>Network error.</source>
        <translation>网络错误。</translation>
    </message>
    <message>
        <source>Another process is using it.</source>
        <translation>有其他进程正在使用它。</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>This is a bug in Furrow.</source>
        <translation>这是 Furrow 的程序错误。</translation>
    </message>
    <message>
        <source>Not allowed.</source>
        <translation>不允许。</translation>
    </message>
</context>
<context>
    <name>FormField</name>
    <message>
        <source>%1: %2 can be read in two ways. Write %3 or %4.</source>
        <translation>%1：%2 有两种读法。请写 %3 或 %4。</translation>
    </message>
    <message>
        <source>%1 must be a whole number, and %2 is not read as one here. Write %3.</source>
        <translation>“%1”须为整数，而 %2 在这里不能读作整数。请写 %3。</translation>
    </message>
    <message>
        <source>%1 must be a number, and %2 is not one here. Write %3.</source>
        <translation>“%1”须为数字，而 %2 在这里不是数字。请写 %3。</translation>
    </message>
    <message>
        <source>%1 must be a whole number of %2 or more.</source>
        <translation>“%1”须为不小于 %2 的整数。</translation>
    </message>
    <message>
        <source>%1 must be a number of %2 or more.</source>
        <translation>“%1”须为不小于 %2 的数。</translation>
    </message>
    <message>
        <source>%1 must be a whole number from %2 to %3.</source>
        <translation>“%1”须为 %2 到 %3 之间的整数。</translation>
    </message>
    <message>
        <source>%1 must be a number from %2 to %3.</source>
        <translation>“%1”须为 %2 到 %3 之间的数。</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>First steps</source>
        <translation>入门</translation>
    </message>
    <message>
        <source>Chunk, block, batch and context</source>
        <translation>数据段、块、批大小和上下文</translation>
    </message>
    <message>
        <source>Why does this say “interrupted”?</source>
        <translation>为什么显示“已中断”？</translation>
    </message>
    <message>
        <source>What a resume does</source>
        <translation>“恢复”会做什么</translation>
    </message>
    <message>
        <source>Reading the coverage map</source>
        <translation>如何看覆盖图</translation>
    </message>
    <message>
        <source>Workers, replicas and merges</source>
        <translation>工作进程、副本与合并</translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation>术语说明</translation>
    </message>
    <message>
        <source>What each setting does</source>
        <translation>每个设置的作用</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>数据段</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>Poisoned</source>
        <translation>有毒</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>may change on a resume</source>
        <translation>恢复时可以更改</translation>
    </message>
    <message>
        <source>may change, but curves before and after cannot be compared</source>
        <translation>可以更改，但前后曲线不可比较</translation>
    </message>
    <message>
        <source>fixed: another value needs a new run</source>
        <translation>固定：其他值需要新的运行</translation>
    </message>
    <message>
        <source>“Start demonstration run” trains a small model on a text that comes with Furrow, on the CPU. Watch the loss fall, stop it, resume it.</source>
        <translation>“开始演示运行”在 CPU 上用 Furrow 自带的文本训练一个小模型。观察损失下降，停止它，再恢复。</translation>
    </message>
    <message>
        <source>For a run of your own press Ctrl+N, then choose a preset and your files. Mistakes are named beside their field, with the fix as a button. Launch starts at once, Queue waits until the devices are free.</source>
        <translation>要创建自己的运行，请按 Ctrl+N，选择预设和文件。错误会显示在字段旁，并有修正按钮。“启动”立即开始，“队列”等待设备空闲。</translation>
    </message>
    <message>
        <source>Closing this window never touches training. Open it again and it shows what happened in the meantime.</source>
        <translation>关闭此窗口不会影响训练。再次打开会显示期间发生的事。</translation>
    </message>
    <message>
        <source>Ctrl+K finds every command, Ctrl+/ shows all shortcuts.</source>
        <translation>Ctrl+K 查找所有命令，Ctrl+/ 显示所有快捷键。</translation>
    </message>
    <message>
        <source>A &lt;b&gt;sample&lt;/b&gt; is one text from your data. A &lt;b&gt;chunk&lt;/b&gt; is what one worker claims at a time, a few thousand samples. A &lt;b&gt;block&lt;/b&gt; is several chunks that are fetched, cleaned and cut into tokens together.</source>
        <translation>&lt;b&gt;样本&lt;/b&gt;是数据中的一段文本。&lt;b&gt;数据段&lt;/b&gt;是一个工作进程一次领取的内容，约数千个样本。&lt;b&gt;块&lt;/b&gt;是一起获取、清理并切成词元的若干数据段。</translation>
    </message>
    <message>
        <source>The &lt;b&gt;context&lt;/b&gt; is how many tokens the model sees at once, the &lt;b&gt;batch&lt;/b&gt; how many such windows go through it in one step.</source>
        <translation>&lt;b&gt;上下文&lt;/b&gt;是模型一次看到的词元数，&lt;b&gt;批大小&lt;/b&gt;是一步中通过模型的窗口数。</translation>
    </message>
    <message>
        <source>GPU memory depends on batch and context (and on the model). It does not depend on the size of chunks: a chunk is only read piece by piece. Small chunks take a little time to claim; with large chunks a crash between two checkpoints costs more work, and one bad text marks more of its neighbours.</source>
        <translation>显存取决于批大小和上下文（以及模型），与数据段的大小无关：数据段是逐段读取的。小数据段领取时多花一点时间；大数据段在两个检查点之间崩溃时损失更多，一段坏文本也会波及更多相邻文本。</translation>
    </message>
    <message>
        <source>The state of a run is never stored. It is worked out each time from what can be seen: is the supervisor process alive, when did it last write, did it record why it ended?</source>
        <translation>运行的状态从不存储。每次都从可见的事实推断：监督进程是否存活、最近何时写入、是否记录了结束原因。</translation>
    </message>
    <message>
        <source>“Interrupted” means: no process of the run is alive and none recorded an end. The computer was switched off or restarted, or the processes were killed. “Why?” beside the state shows the evidence.</source>
        <translation>“已中断”表示：没有存活的进程，也没有记录结束。计算机被关闭或重启，或者进程被强制结束。状态旁的“为什么？”会显示依据。</translation>
    </message>
    <message>
        <source>Nothing is broken. What is in a checkpoint is kept; what was trained after it is trained again.</source>
        <translation>没有任何损坏。检查点中的内容会保留，其后训练的内容会重新训练。</translation>
    </message>
    <message>
        <source>“Resume…” first shows a dry run: how many chunks are kept, trained again or free, and every checkpoint with the result of checking its files. Nothing changes until you confirm.</source>
        <translation>“恢复…”先显示预演：保留、重新训练或空闲的数据段数，以及每个检查点的文件检查结果。确认之前不会改变任何内容。</translation>
    </message>
    <message>
        <source>The run goes on as a new attempt in the same folder. You may change devices, number of workers and stopping rules; what would change the chunks or the weights is refused by name.</source>
        <translation>运行在同一文件夹中作为新的尝试继续。可以更改设备、工作进程数和停止规则；会改变数据段或权重的设置将被逐项拒绝。</translation>
    </message>
    <message>
        <source>Each row is a block, each cell a chunk. The line at its lower edge says committed, the notch at the upper right trained but not in a checkpoint yet, hatching that its work was lost and comes again.</source>
        <translation>每一行是一个块，每一格是一个数据段。下缘的线表示已提交，右上角的缺口表示已训练但尚未进入检查点，斜线表示工作丢失将重新训练。</translation>
    </message>
    <message>
        <source>By default the colour is the loss above or below the trend of the run, since the loss itself only shows when a chunk was trained. Cells that stand out hold unusual text: drag over them and read their samples.</source>
        <translation>默认颜色表示损失高于或低于运行趋势，因为损失本身只反映数据段是何时训练的。突出的格含有不寻常的文本：拖动选中并阅读样本。</translation>
    </message>
    <message>
        <source>Ctrl and wheel zooms, the arrows move, Enter opens the samples. “Table” shows the same as numbers.</source>
        <translation>Ctrl 加滚轮缩放，方向键移动，回车打开样本。“表格”以数字显示同样内容。</translation>
    </message>
    <message>
        <source>Each worker trains its own copy of the model, a replica, on its own chunks. From time to time, and at the end, the replicas are merged: their weights are averaged by the tokens they trained.</source>
        <translation>每个工作进程在自己的数据段上训练模型的一个副本。每隔一段时间以及结束时，副本会合并：按训练的词元数对权重取平均。</translation>
    </message>
    <message>
        <source>“Start from” offers older checkpoints too. What is newer then leaves the weights, and its chunks are trained again, once: the map and the counts show the cost before anything happens.</source>
        <translation>“起点”也提供较旧的检查点。较新的内容随之从权重中移除，其数据段再训练一次：在任何改变之前，图和计数会显示代价。</translation>
    </message>
    <message>
        <source>A run that you do not want to continue can be marked as finished; it can still be resumed later. A run can also resume by itself after an interruption, if you say so in the dialog or in the Run menu.</source>
        <translation>不再继续的运行可以标记为已完成；以后仍可恢复。如果您在对话框或“运行”菜单中选择，运行也可以在中断后自动恢复。</translation>
    </message>
    <message>
        <source>A checkpoint that is damaged, or on a disk that is not mounted, is never given up without your consent: bring it back and resume, or tick the box that says how many chunks are trained again.</source>
        <translation>损坏的检查点，或位于未挂载磁盘上的检查点，未经您同意绝不会被放弃：请找回它再恢复运行，或勾选说明将重新训练多少数据段的复选框。</translation>
    </message>
    <message>
        <source>A chunk counts as trained once when it is in one replica before a merge, or in the merged weights after it. “Chunks twice or missing” proves it from the ledger at any time.</source>
        <translation>数据段在合并前位于一个副本中，或在合并后位于合并权重中，即算训练一次。“重复或缺漏的数据段”随时用账本证明。</translation>
    </message>
    <message>
        <source>“Cannot be read” means: the folder was moved or deleted, its disk is not mounted, or a newer Furrow made it. What was last read stays on screen with its time, and nothing can be done with the run until the folder is back.</source>
        <translation>“无法读取”表示：文件夹被移动或删除，其磁盘未挂载，或由更新版本的 Furrow 创建。上次读取的内容及其时间仍会显示，在文件夹恢复之前不能对该运行做任何操作。</translation>
    </message>
    <message>
        <source>Where several epochs are open, or are opened again, a table says for each how many chunks are kept and how many are trained again.</source>
        <translation>当有多个轮次打开或重新打开时，会有一个表说明每个轮次保留多少数据段、重新训练多少数据段。</translation>
    </message>
    <message>
        <source>The page “Chat” talks with the model while it trains: the newest checkpoint answers, or two of them side by side. It uses one CPU thread while the run trains.</source>
        <translation>“对话”页可以在训练时与模型交谈：由最新的检查点回答，或让两个检查点并排回答。训练进行时它使用一个 CPU 线程。</translation>
    </message>
    <message>
        <source>Your data</source>
        <translation>您的数据</translation>
    </message>
    <message>
        <source>A &lt;b&gt;source&lt;/b&gt; is a file, a folder, a pattern such as texts/*.txt, or an address (hf://, https://, s3://, gs://). Separate several with commas; put a name with a comma in it in double quotes. What of a folder is left out is named below the field.</source>
        <translation>&lt;b&gt;来源&lt;/b&gt;是文件、文件夹、texts/*.txt 这样的模式，或地址（hf://、https://、s3://、gs://）。多个来源用逗号分隔；含逗号的名称放在双引号中。文件夹中被排除的文件会列在字段下方。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Formats&lt;/b&gt;: txt, csv, tsv, jsonl, json, parquet, arrow, warc and WebDataset, also compressed (.gz, .zst, .xz, .bz2) and in .zip and .tar. A Word, Excel or PDF file is none of them: save it as plain text or csv.</source>
        <translation>&lt;b&gt;格式&lt;/b&gt;：txt、csv、tsv、jsonl、json、parquet、arrow、warc 和 WebDataset，也可以是压缩的（.gz、.zst、.xz、.bz2）或在 .zip 和 .tar 中。Word、Excel 或 PDF 文件不在其中：请另存为纯文本或 csv。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Columns&lt;/b&gt;: one column is trained. A usual name is taken (text, txt, content, sentence, document, article, body, also as the last part of a nested name, meta.text), else the column with the most text. The form says which one it is and why, and offers the others. All files of one source have the same column.</source>
        <translation>&lt;b&gt;列&lt;/b&gt;：训练一列。优先取常见名称（text、txt、content、sentence、document、article、body，也可以是嵌套名称的最后一部分，如 meta.text），否则取文本最多的列。表单会说明是哪一列及原因，并列出其他列。同一来源的所有文件使用同一列。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Encodings&lt;/b&gt; such as UTF-16 or Windows-1252 are found from the bytes and said; so are the delimiter and the quotes of csv. The settings “Encoding” and “CSV …” name the right one where that is wrong.</source>
        <translation>UTF-16、Windows-1252 等&lt;b&gt;编码&lt;/b&gt;由字节识别并说明；csv 的分隔符和引号也是如此。识别有误时，用“编码”和“CSV …”设置指定正确的值。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Conversations&lt;/b&gt; (messages, ShareGPT, Alpaca, prompt and completion) are trained as such when there is a chat template: it writes them, and only the answers are learnt, which stand between « and » in the form. Without one they are plain text.</source>
        <translation>有对话模板时，&lt;b&gt;对话&lt;/b&gt;（messages、ShareGPT、Alpaca、prompt 和 completion）按对话训练：由模板写出，只学习回答，表单中用 « 和 » 标出。没有模板时是普通文本。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Rows&lt;/b&gt; count from 0: row 0 of jsonl is line 1, row 0 of csv the first one below the names of the columns. A row that cannot be read is left out and counted, and the first one is named; the samples of a chunk name the others. Rows that are empty or too short are filtered. When more rows cannot be read than &lt;code&gt;max_unreadable_percent&lt;/code&gt; allows, and at least ten, the run stops.</source>
        <translation>&lt;b&gt;行&lt;/b&gt;从 0 计：jsonl 的第 0 行是文件第 1 行，csv 的第 0 行是列名下面的第一行。无法读取的行会被排除并计数，并指出第一个；其余的在数据段的样本中指出。空行或过短的行会被过滤。无法读取的行超过 &lt;code&gt;max_unreadable_percent&lt;/code&gt; 允许的比例且至少有十行时，运行停止。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Changed and removed files&lt;/b&gt;: a file that is not any more what it was when the run was made stops the run, or what of it is not prepared yet is left out by name, as &lt;code&gt;bad_files&lt;/code&gt; says. It may be changed on a resume, and so may max_unreadable_percent.</source>
        <translation>&lt;b&gt;更改或删除的文件&lt;/b&gt;：如果文件与创建运行时不同，运行会停止，或按 &lt;code&gt;bad_files&lt;/code&gt; 的设置把其中尚未准备的部分按名称排除。恢复时可以更改此设置，max_unreadable_percent 也可以。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Repeats&lt;/b&gt;: with &lt;code&gt;duplicates&lt;/code&gt; set to skip only the first of equal texts is trained; else all are trained and counted.</source>
        <translation>&lt;b&gt;重复&lt;/b&gt;：当 &lt;code&gt;duplicates&lt;/code&gt; 设为 skip 时，相同文本只训练第一个；否则全部训练并计数。</translation>
    </message>
    <message>
        <source>Private training</source>
        <translation>隐私训练</translation>
    </message>
    <message>
        <source>&lt;code&gt;clip_per_sample&lt;/code&gt; bounds what one window, or one sample, may do to the weights in a step. With &lt;code&gt;noise_multiplier&lt;/code&gt; each step adds normal noise of that many times the bound, and what the weights can tell of one unit is limited: epsilon at delta.</source>
        <translation>&lt;code&gt;clip_per_sample&lt;/code&gt; 限制一个窗口或一个样本在一步中对权重的影响。设置 &lt;code&gt;noise_multiplier&lt;/code&gt; 后，每步加入该上限若干倍的正态噪声，权重能透露的关于一个单元的信息就有了界限：给定 delta 的 epsilon。</translation>
    </message>
    <message>
        <source>Epsilon follows from how often a unit took part, which the ledger counts: once an epoch, and once more for each training that was lost with its weights. No chance of being drawn is assumed. The audit states it, with the unit, what neighbours are, and what the guarantee does not speak of: losses and samples that the run shows, the held-out text, the tokenizer, the seed of the noise.</source>
        <translation>epsilon 由单元参与的次数得出，账本会统计：每轮一次，每次随权重丢失的训练再加一次。不假设任何抽样概率。审计会给出它，并说明单元、何为相邻，以及保证不涉及的内容：运行显示的损失和样本、留出的文本、分词器、噪声的种子。</translation>
    </message>
    <message>
        <source>Rows are units with &lt;code&gt;privacy_unit&lt;/code&gt; sample: then &lt;code&gt;packing&lt;/code&gt; is single, and a row that is too long is cut or left out. &lt;code&gt;target_epsilon&lt;/code&gt; ends the run before a unit takes part once too often. Large steps help: the same noise is shared by more windows.</source>
        <translation>当 &lt;code&gt;privacy_unit&lt;/code&gt; 为 sample 时，行就是单元：此时 &lt;code&gt;packing&lt;/code&gt; 为 single，过长的行会被截断或略去。&lt;code&gt;target_epsilon&lt;/code&gt; 会在单元参与次数超限之前结束训练。较大的步有帮助：同样的噪声由更多窗口分担。</translation>
    </message>
    <message>
        <source>DiLoCo makes an outer step from that average, which looks ahead for training that goes on. Its last round keeps whichever evaluates better, the outer step or the plain average. A single replica is never kept, even where it evaluates better alone: its weights lack what the others trained.</source>
        <translation>DiLoCo 由该平均值再走一个外层步，这一步着眼于后续的训练。最后一轮保留评估更好的那个：外层步或普通平均。绝不会保留单个副本，即使它单独评估更好：它的权重缺少其他副本训练的内容。</translation>
    </message>
    <message>
        <source>&lt;b&gt;Tokens per second&lt;/b&gt; of a worker are all tokens of its steps over all the time they took: a wait for data counts, a pause, an evaluation, a merge and a restart do not. Workers add up, in the chart as on the overview. “Kept tokens per active second” go by the whole active time instead.</source>
        <translation>一个工作进程的&lt;b&gt;每秒词元数&lt;/b&gt;是它各步的全部词元除以这些步所用的全部时间：等待数据计入，暂停、评估、合并和重启不计入。各工作进程相加，图表与概览相同。而“每秒活动时间保留的词元数”按全部活动时间计算。</translation>
    </message>
</context>
<context>
    <name>LibraryTable</name>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>尝试次数</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>创建时间</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Chunks committed, latest epochs</source>
        <translation>已提交的数据段，最新各轮</translation>
    </message>
    <message>
        <source>Epochs complete</source>
        <translation>已完成轮次</translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation>每秒活动时间保留的词元数</translation>
    </message>
</context>
<context>
    <name>NewRunPage</name>
    <message>
        <source>Set to %1</source>
        <translation>设为 %1</translation>
    </message>
</context>
<context>
    <name>Overflow</name>
    <message>
        <source>More commands</source>
        <translation>更多命令</translation>
    </message>
</context>
<context>
    <name>QPlainTextEdit</name>
    <message>
        <source>This token: %1</source>
        <translation>此词元：%1</translation>
    </message>
</context>
<context>
    <name>QueueDock</name>
    <message>
        <source>waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>in training</source>
        <translation>训练中</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Every GPU</source>
        <translation>所有 GPU</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Device and run</source>
        <translation>设备与运行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message numerus="yes">
        <source>%1, needs %n device(s)</source>
        <translation>
            <numerusform>%1，需要 %n 个设备</numerusform>
        </translation>
    </message>
    <message>
        <source>left the queue: %1</source>
        <translation>已离开队列：%1</translation>
    </message>
</context>
<context>
    <name>Replay</name>
    <message>
        <source>As it was at %1, from the ledger and the telemetry.</source>
        <translation>%1 时的状态，来自账本和遥测。</translation>
    </message>
</context>
<context>
    <name>RunBanner</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>No checkpoint has been written yet: a resume starts from the beginning.</source>
        <translation>尚未写入检查点：恢复将从头开始。</translation>
    </message>
    <message>
        <source>Checkpoints hold %1 of %2 chunks of %3; the newest is from %4.</source>
        <translation>检查点包含%3的 %2 个数据段中的 %1 个；最新的检查点时间为 %4。</translation>
    </message>
    <message>
        <source>No whole checkpoint is left: a resume starts from the beginning.</source>
        <translation>没有完好的检查点：恢复将从头开始。</translation>
    </message>
</context>
<context>
    <name>RunReport</name>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>尝试次数</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>优化步数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>训练损失</translation>
    </message>
    <message>
        <source>Loss on held-out text</source>
        <translation>留出文本上的损失</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Attempt %1: %2 → %3</source>
        <translation>第 %1 次尝试：%2 → %3</translation>
    </message>
    <message>
        <source>Settings in force that differ from the preset %1</source>
        <translation>与预设 %1 不同的生效设置</translation>
    </message>
    <message>
        <source>Settings in force</source>
        <translation>生效的设置</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>In force</source>
        <translation>生效值</translation>
    </message>
    <message>
        <source>Changed by a resume</source>
        <translation>恢复时的更改</translation>
    </message>
    <message>
        <source>Rows that cannot be read</source>
        <translation>无法读取的行</translation>
    </message>
    <message>
        <source>Rows filtered</source>
        <translation>被过滤的行</translation>
    </message>
    <message>
        <source>Chunks that cannot be read</source>
        <translation>无法读取的数据段</translation>
    </message>
    <message>
        <source>Samples left out as repeats</source>
        <translation>因重复而略去的样本</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>正确回答</translation>
    </message>
    <message>
        <source>Samples left out, their steps were not finite</source>
        <translation>略去的样本（其训练步不是有限值）</translation>
    </message>
</context>
<context>
    <name>SamplingFields</name>
    <message>
        <source>0 always takes the likeliest token; above 1 the text becomes wilder</source>
        <translation>0 总是取最可能的词元；大于 1 时文本更随意</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Among the likeliest (top-k)</source>
        <translation>候选词元数（top-k）</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
</context>
<context>
    <name>SaveFile</name>
    <message>
        <source>Replace file</source>
        <translation>替换文件</translation>
    </message>
    <message>
        <source>%1 is a folder. Write the name of a file.</source>
        <translation>%1 是文件夹。请写文件名。</translation>
    </message>
    <message>
        <source>%1 exists already. Replace it?</source>
        <translation>%1 已存在。要替换它吗？</translation>
    </message>
    <message>
        <source>What it holds now is lost.</source>
        <translation>它现有的内容会丢失。</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>No, keep it</source>
        <translation>不，保留</translation>
    </message>
</context>
<context>
    <name>Schema</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>What the run is called in the library and in its folder name. Empty: made from preset and data.</source>
        <translation>运行在库中及其文件夹名中的名称。留空：由预设和数据组成。</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Rows from</source>
        <translation>样本划分方式</translation>
    </message>
    <message>
        <source>What a sample of a plain text file is: a line, a paragraph between blank lines, or a span of span_bytes with newlines kept. &apos;stream&apos; takes random windows of one file and keeps no ledger; it exists for comparisons with other programs. &apos;auto&apos; is lines.</source>
        <translation>纯文本文件中样本的含义：一行、空行之间的一段，或保留换行的 span_bytes 长的片段。“stream”从一个文件取随机窗口且不记账，仅用于与其他程序比较。“auto”为按行。</translation>
    </message>
    <message>
        <source>Text column</source>
        <translation>文本列</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>分词器</translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation>每块样本数</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Consecutive samples that are prepared as one unit. Lowered by itself for small data, so that there are some blocks to shuffle.</source>
        <translation>作为一个单位准备的连续样本。数据小时自动减小，以便有若干块可供打乱。</translation>
    </message>
    <message>
        <source>Chunk size</source>
        <translation>数据段大小</translation>
    </message>
    <message>
        <source>Samples that one worker claims at a time. It does not change GPU memory: batch size times sequence length does.</source>
        <translation>一个工作进程一次领取的样本数。它不影响显存；影响显存的是批大小乘以序列长度。</translation>
    </message>
    <message>
        <source>Chunk size, at most</source>
        <translation>数据段大小上限</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>A chunk ends early when its text would become larger than this.</source>
        <translation>文本将超过此大小时，数据段提前结束。</translation>
    </message>
    <message>
        <source>Span</source>
        <translation>片段长度</translation>
    </message>
    <message>
        <source>Length of a sample in data mode span.</source>
        <translation>数据模式 span 中一个样本的长度。</translation>
    </message>
    <message>
        <source>Held out</source>
        <translation>留出比例</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Share of the samples kept for evaluation, chosen by a hash of their text, so that equal texts fall on the same side.</source>
        <translation>留作评估的样本比例，按文本哈希选取，因此相同文本总在同一侧。</translation>
    </message>
    <message>
        <source>Shortest sample</source>
        <translation>最短样本</translation>
    </message>
    <message>
        <source>characters</source>
        <translation>字符</translation>
    </message>
    <message>
        <source>Shorter samples are filtered, counted and never trained.</source>
        <translation>更短的样本被过滤、计数，永不训练。</translation>
    </message>
    <message>
        <source>Longest sample</source>
        <translation>最长样本</translation>
    </message>
    <message>
        <source>ASCII only</source>
        <translation>仅 ASCII</translation>
    </message>
    <message>
        <source>Filter samples with any other character.</source>
        <translation>过滤含有其他字符的样本。</translation>
    </message>
    <message>
        <source>Duplicate texts</source>
        <translation>重复文本</translation>
    </message>
    <message>
        <source>report: texts that occur again are trained, and counted inside a block. skip: of equal texts in the whole data set only the first one is trained, the others are counted and left out. For that all data is read once before training begins; what comes from the hub is downloaded then, and once more where the cache is too small to keep it.</source>
        <translation>report：再次出现的文本照常训练，并在块内计数。skip：在整个数据集中，相同的文本只训练第一次出现的，其余计数并略去。为此会在训练开始前把全部数据读取一遍；来自 Hub 的数据在此时下载，若缓存太小无法保留，则会再下载一次。</translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation>打乱</translation>
    </message>
    <message>
        <source>Claim chunks in an order drawn from seed and epoch; off: in source order.</source>
        <translation>按由种子和轮次得出的顺序领取数据段；关闭：按来源顺序。</translation>
    </message>
    <message>
        <source>Shuffle window</source>
        <translation>打乱窗口</translation>
    </message>
    <message>
        <source>blocks</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Chunks are shuffled inside groups of this many blocks: consecutive ones in the first epoch, blocks from anywhere in later ones. About two groups are kept prepared. From 24 on the order mixes within 5 % of a full shuffle.</source>
        <translation>数据段在由这么多块组成的组内打乱：第一轮是相邻的块，之后各轮是任意位置的块。大约保持两组已准备好。从 24 起，混合程度与完全打乱相差不到 5 %。</translation>
    </message>
    <message>
        <source>First sample</source>
        <translation>首个样本</translation>
    </message>
    <message>
        <source>Skip this many samples at the start of each source (of its fraction). They do not belong to the epoch.</source>
        <translation>跳过每个来源（其比例内）开头的这么多样本。它们不属于该轮次。</translation>
    </message>
    <message>
        <source>Samples, at most</source>
        <translation>样本上限</translation>
    </message>
    <message>
        <source>Fraction</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>Use only this share of each source, drawn with the seed: row by row in small files, else in stretches (row groups of Parquet, 64 KiB of text of the hub), so that the rest need not be read or downloaded.</source>
        <translation>每个来源只使用这一比例，由种子抽取：小文件逐行抽取，否则按片段抽取（Parquet 的行组、Hub 上 64 KiB 的文本），其余部分无需读取或下载。</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>With several sources: a number for each, how much text of it comes first in the first epoch relative to the others. It does not change how often a source is trained. Empty: sources end together.</source>
        <translation>有多个来源时：每个来源一个数，表示第一轮中相对其他来源有多少文本排在前面。不改变来源被训练的次数。留空：各来源同时结束。</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Disk that prepared blocks and downloads of this workspace may take.</source>
        <translation>此工作区中准备好的块和下载可占用的磁盘。</translation>
    </message>
    <message>
        <source>Prepare ahead</source>
        <translation>提前准备</translation>
    </message>
    <message>
        <source>Blocks that are prepared before a worker asks for them.</source>
        <translation>在工作进程需要之前就准备好的块数。</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>架构</translation>
    </message>
    <message>
        <source>gpt: a transformer as GPT-2 or Llama. hrm: the hierarchical reasoning model.</source>
        <translation>gpt：GPT-2 或 Llama 式的 Transformer。hrm：分层推理模型。</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>Transformer blocks; for hrm the blocks of each of the two modules.</source>
        <translation>Transformer 层数；hrm 为两个模块各自的层数。</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Size of the residual stream. The number of heads must divide it.</source>
        <translation>残差流的大小。须能被头数整除。</translation>
    </message>
    <message>
        <source>Heads</source>
        <translation>头数</translation>
    </message>
    <message>
        <source>Attention heads.</source>
        <translation>注意力头。</translation>
    </message>
    <message>
        <source>Key-value heads</source>
        <translation>键值头</translation>
    </message>
    <message>
        <source>Feed-forward width</source>
        <translation>前馈宽度</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Positions</source>
        <translation>位置编码</translation>
    </message>
    <message>
        <source>learned as in GPT-2, or rotary.</source>
        <translation>learned：如 GPT-2 学习得到；或旋转式。</translation>
    </message>
    <message>
        <source>Rotary base</source>
        <translation>旋转基数</translation>
    </message>
    <message>
        <source>Base of the rotary angles: 10,000 in most models, 500,000 in Llama 3.</source>
        <translation>旋转角度的基数：多数模型为 10,000，Llama 3 为 500,000。</translation>
    </message>
    <message>
        <source>Norm</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>Normalisation before each part of a block.</source>
        <translation>每一层中各部分之前的归一化。</translation>
    </message>
    <message>
        <source>Norm epsilon</source>
        <translation>归一化 epsilon</translation>
    </message>
    <message>
        <source>Added to the variance in norms. 1e-5 in GPT-2, 1e-5 or 1e-6 in Llamas.</source>
        <translation>加到归一化方差上的数。GPT-2 为 1e-5，Llama 为 1e-5 或 1e-6。</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>激活函数</translation>
    </message>
    <message>
        <source>Biases</source>
        <translation>偏置</translation>
    </message>
    <message>
        <source>Bias vectors in linear layers and norms, as in GPT-2.</source>
        <translation>线性层和归一化中的偏置向量，如 GPT-2。</translation>
    </message>
    <message>
        <source>Tied head</source>
        <translation>共享输出层</translation>
    </message>
    <message>
        <source>The output layer shares the embedding matrix.</source>
        <translation>输出层与嵌入矩阵共享。</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>Dropout</translation>
    </message>
    <message>
        <source>Probability with which activations are dropped while training.</source>
        <translation>训练时丢弃激活值的概率。</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>专家数</translation>
    </message>
    <message>
        <source>Active experts</source>
        <translation>激活的专家</translation>
    </message>
    <message>
        <source>Experts that each token visits.</source>
        <translation>每个词元经过的专家数。</translation>
    </message>
    <message>
        <source>Low layers</source>
        <translation>低层模块层数</translation>
    </message>
    <message>
        <source>Expansion</source>
        <translation>扩展倍数</translation>
    </message>
    <message>
        <source>hrm: size of the feed-forward part as a multiple of the width, before the factor 2/3 of SwiGLU.</source>
        <translation>hrm：前馈部分相对宽度的倍数（乘以 SwiGLU 的 2/3 之前）。</translation>
    </message>
    <message>
        <source>High cycles</source>
        <translation>高层循环</translation>
    </message>
    <message>
        <source>hrm: turns of the slow module in a segment.</source>
        <translation>hrm：每个片段中慢速模块的循环次数。</translation>
    </message>
    <message>
        <source>Low cycles</source>
        <translation>低层循环</translation>
    </message>
    <message>
        <source>hrm: turns of the fast module in each turn of the slow one.</source>
        <translation>hrm：慢速模块每循环一次，快速模块循环的次数。</translation>
    </message>
    <message>
        <source>Segments, at most</source>
        <translation>最多片段数</translation>
    </message>
    <message>
        <source>segments</source>
        <translation>片段</translation>
    </message>
    <message>
        <source>hrm: segments after which a row halts in any case.</source>
        <translation>hrm：一行数据无论如何都会停止的片段数。</translation>
    </message>
    <message>
        <source>Exploration</source>
        <translation>探索</translation>
    </message>
    <message>
        <source>hrm: share of rows that must think for a random number of segments while training.</source>
        <translation>hrm：训练时须思考随机片段数的行所占比例。</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>LoRA rank</source>
        <translation>LoRA 秩</translation>
    </message>
    <message>
        <source>LoRA alpha</source>
        <translation>LoRA alpha</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>sequences</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>Windows in one micro-step of one worker.</source>
        <translation>一个工作进程一个微步中的窗口数。</translation>
    </message>
    <message>
        <source>Accumulation</source>
        <translation>累积</translation>
    </message>
    <message>
        <source>micro-steps</source>
        <translation>微步</translation>
    </message>
    <message>
        <source>Micro-steps whose gradients make one optimiser step.</source>
        <translation>其梯度合成一个优化步的微步数。</translation>
    </message>
    <message>
        <source>Peak learning rate</source>
        <translation>峰值学习率</translation>
    </message>
    <message>
        <source>Learning rate after warm-up.</source>
        <translation>预热之后的学习率。</translation>
    </message>
    <message>
        <source>Final learning rate</source>
        <translation>最终学习率</translation>
    </message>
    <message>
        <source>Where the schedule ends.</source>
        <translation>计划结束时的值。</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Own optimiser steps of a worker over which the rate rises from 0.</source>
        <translation>学习率从 0 上升所用的工作进程自身优化步数。</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>How the rate falls after warm-up. It follows the tokens of the whole run, so all workers are at the same place.</source>
        <translation>预热后学习率如何下降。它跟随整个运行的词元，因此所有工作进程处于同一位置。</translation>
    </message>
    <message>
        <source>Schedule length</source>
        <translation>计划长度</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>TF32</source>
        <translation>TF32</translation>
    </message>
    <message>
        <source>On a GPU, compute fp32 products with TF32: faster, with 10 bits of precision. Deterministic runs do without.</source>
        <translation>在 GPU 上用 TF32 计算 fp32 乘法：更快，精度 10 位。确定性运行不使用。</translation>
    </message>
    <message>
        <source>Attention kernel</source>
        <translation>注意力内核</translation>
    </message>
    <message>
        <source>Which kernel computes attention. auto: the fastest one that fits.</source>
        <translation>用哪个内核计算注意力。auto：适用的最快内核。</translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation>CUDA 图</translation>
    </message>
    <message>
        <source>Recompute activations</source>
        <translation>重算激活值</translation>
    </message>
    <message>
        <source>Compute each block again in backward and keep its inputs only: much less memory for about a third more time.</source>
        <translation>反向时重新计算每一层，只保存其输入：内存少得多，时间约多三分之一。</translation>
    </message>
    <message>
        <source>Adaptive rate</source>
        <translation>自适应学习率</translation>
    </message>
    <message>
        <source>Lower the rate by 30 % whenever the mean loss of 64 steps is clearly above that of the 64 before, and raise it again while it falls. Stays within 10 to 100 % of the schedule; each change is an event.</source>
        <translation>当 64 步的平均损失明显高于前 64 步时将学习率降低 30 %，损失下降时再升高。保持在计划值的 10 % 到 100 % 之间；每次变化都记为事件。</translation>
    </message>
    <message>
        <source>Averaged weights</source>
        <translation>平均权重</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>auto (all GPUs, else the CPU), a list of GPU numbers or UUIDs, or cpu:2 for two workers on the CPU.</source>
        <translation>auto（所有 GPU，否则 CPU）、GPU 编号或 UUID 的列表，或 cpu:2 表示 CPU 上两个工作进程。</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Workers train</source>
        <translation>工作进程的训练方式</translation>
    </message>
    <message>
        <source>independent: each worker trains its own chunks and its own copy of the model, merged from time to time. data: all workers train one model; each step is split over them, as if one worker had a batch so many times as large.</source>
        <translation>independent：每个工作进程训练自己的数据段和自己的模型副本，副本不时合并。data：所有工作进程训练同一个模型；每一步由它们分担，如同一个工作进程使用相应倍数的批大小。</translation>
    </message>
    <message>
        <source>Missing worker</source>
        <translation>缺席的工作进程</translation>
    </message>
    <message>
        <source>With parallel data: how long the workers wait for one that does not take part in a step. Then all of them end, name it, and start again together from the last checkpoint.</source>
        <translation>当 parallel 为 data 时：其他工作进程等待没有参与某一步的工作进程多久。之后全部结束，指出是哪一个，并一起从最近的检查点重新开始。</translation>
    </message>
    <message>
        <source>Restarts, at most</source>
        <translation>重启上限</translation>
    </message>
    <message>
        <source>How often a worker that died is started again in one attempt.</source>
        <translation>一次尝试中，意外结束的工作进程最多重启几次。</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>轮</translation>
    </message>
    <message>
        <source>Passes over the data. The first stopping rule that is reached ends the run.</source>
        <translation>遍历数据的次数。最先达到的停止规则结束运行。</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>小时</translation>
    </message>
    <message>
        <source>hours</source>
        <translation>小时</translation>
    </message>
    <message>
        <source>Stop after epoch</source>
        <translation>本轮后停止</translation>
    </message>
    <message>
        <source>Stop after blocks</source>
        <translation>若干块后停止</translation>
    </message>
    <message>
        <source>Iterate</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>Begin another epoch whenever one ends, until another rule stops the run.</source>
        <translation>每轮结束就开始下一轮，直到其他规则停止运行。</translation>
    </message>
    <message>
        <source>Checkpoint every</source>
        <translation>检查点间隔</translation>
    </message>
    <message>
        <source>minutes</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>Work that a crash can cost. &apos;minutes&apos; of training between two checkpoints of a worker.</source>
        <translation>崩溃可能损失的工作量。一个工作进程两个检查点之间训练的分钟数。</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Newest checkpoints kept for each replica; the best one and pinned ones stay as well.</source>
        <translation>每个副本保留的最新检查点数；最好的和固定的也会保留。</translation>
    </message>
    <message>
        <source>adamw, adamw8bit (its moments take a quarter of the memory), adamatan2 (no epsilon, scale free) or sgd with momentum beta1.</source>
        <translation>adamw、adamw8bit（其动量只占四分之一内存）、adamatan2（无 epsilon，与尺度无关）或带动量 beta1 的 sgd。</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Decoupled, on matrices only.</source>
        <translation>解耦，仅作用于矩阵。</translation>
    </message>
    <message>
        <source>Beta 1</source>
        <translation>Beta 1</translation>
    </message>
    <message>
        <source>Decay of the mean of gradients.</source>
        <translation>梯度均值的衰减。</translation>
    </message>
    <message>
        <source>Beta 2</source>
        <translation>Beta 2</translation>
    </message>
    <message>
        <source>Decay of the mean of squared gradients.</source>
        <translation>梯度平方均值的衰减。</translation>
    </message>
    <message>
        <source>Epsilon</source>
        <translation>Epsilon</translation>
    </message>
    <message>
        <source>Added to the root of the second moment.</source>
        <translation>加到二阶矩的平方根上。</translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation>梯度裁剪</translation>
    </message>
    <message>
        <source>Bad steps, at most</source>
        <translation>坏步上限</translation>
    </message>
    <message>
        <source>Steps in a row with NaN or Inf, each left out, before the worker goes back to its last checkpoint.</source>
        <translation>连续出现 NaN 或 Inf 的步数（每步都略去），达到后工作进程回到其最后的检查点。</translation>
    </message>
    <message>
        <source>Evaluate every</source>
        <translation>评估间隔</translation>
    </message>
    <message>
        <source>Batches</source>
        <translation>批数</translation>
    </message>
    <message>
        <source>batches</source>
        <translation>批</translation>
    </message>
    <message>
        <source>Batches of one evaluation, at most; always the same ones.</source>
        <translation>一次评估最多的批数；总是相同的批。</translation>
    </message>
    <message>
        <source>Sample every</source>
        <translation>采样间隔</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Merge every</source>
        <translation>合并间隔</translation>
    </message>
    <message>
        <source>Outer rate</source>
        <translation>外层学习率</translation>
    </message>
    <message>
        <source>DiLoCo: rate of the outer step.</source>
        <translation>DiLoCo：外层步的学习率。</translation>
    </message>
    <message>
        <source>Outer momentum</source>
        <translation>外层动量</translation>
    </message>
    <message>
        <source>DiLoCo: Nesterov momentum of the outer step.</source>
        <translation>DiLoCo：外层步的 Nesterov 动量。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Of weights, order and sampling.</source>
        <translation>用于权重、顺序和采样。</translation>
    </message>
    <message>
        <source>Deterministic</source>
        <translation>确定性</translation>
    </message>
    <message>
        <source>Same claims, same bytes on a GPU too. Slower there; the CPU is always deterministic.</source>
        <translation>领取相同，结果就逐字节相同，GPU 上也如此。GPU 上会更慢；CPU 始终是确定性的。</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Stop and save</source>
        <translation>停止与保存</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Evaluation and sampling</source>
        <translation>评估与采样</translation>
    </message>
    <message>
        <source>Merging</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Seeds and determinism</source>
        <translation>种子与确定性</translation>
    </message>
    <message>
        <source>CPU, words after two minutes</source>
        <translation>CPU，两分钟后出现单词</translation>
    </message>
    <message>
        <source>GPU, width 384</source>
        <translation>GPU，宽度 384</translation>
    </message>
    <message>
        <source>8 layers, 256</source>
        <translation>8 层，256</translation>
    </message>
    <message>
        <source>8 layers, 384</source>
        <translation>8 层，384</translation>
    </message>
    <message>
        <source>12 layers, 768</source>
        <translation>12 层，768</translation>
    </message>
    <message>
        <source>24 layers, 1,024</source>
        <translation>24 层，1,024</translation>
    </message>
    <message>
        <source>2+2 layers, 128</source>
        <translation>2+2 层，128</translation>
    </message>
    <message>
        <source>2+2 layers, 256</source>
        <translation>2+2 层，256</translation>
    </message>
    <message>
        <source>2+2 layers, 384</source>
        <translation>2+2 层，384</translation>
    </message>
    <message>
        <source>2+2 layers, 512</source>
        <translation>2+2 层，512</translation>
    </message>
    <message>
        <source>4+4 layers, 512, as published</source>
        <translation>4+4 层，512，与论文相同</translation>
    </message>
    <message>
        <source>2+2 layers, 768</source>
        <translation>2+2 层，768</translation>
    </message>
    <message>
        <source>4+4 layers, 1,024</source>
        <translation>4+4 层，1,024</translation>
    </message>
    <message>
        <source>Chunks of the parent</source>
        <translation>父运行的数据段</translation>
    </message>
    <message>
        <source>With init_from of a run on the same data: train everything in a new pass (again), or leave out of the first epoch what those weights have seen in a pass that was not over (skip).</source>
        <translation>init_from 指向同一数据上的运行时：重新完整训练一遍（again），或在第一轮中略去这些权重在尚未结束的那一遍里已见过的内容（skip）。</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Evaluation text</source>
        <translation>评估文本</translation>
    </message>
    <message>
        <source>A file, folder or hub split to evaluate on, such as hf://wikitext:wikitext-2-raw-v1:validation. Nothing of the training data is held out then.</source>
        <translation>用于评估的文件、文件夹或 Hub 划分，例如 hf://wikitext:wikitext-2-raw-v1:validation。此时不再从训练数据中留出样本。</translation>
    </message>
    <message>
        <source>GPT char, 4 layers</source>
        <translation>GPT char，4 层</translation>
    </message>
    <message>
        <source>GPT char, 6 layers</source>
        <translation>GPT char，6 层</translation>
    </message>
    <message>
        <source>Of matrix products; weights are float32. auto: bf16 on GPUs, fp32 on CPUs; bf16 pays on AMD processors with AVX512-BF16. fp16 needs a GPU and scales the loss by itself.</source>
        <translation>矩阵乘积的精度；权重为 float32。auto：GPU 上用 bf16，CPU 上用 fp32；在带 AVX512-BF16 的 AMD 处理器上 bf16 更快。fp16 需要 GPU，并自动缩放损失。</translation>
    </message>
    <message>
        <source>End with the epoch that is being trained when the run starts or is resumed, also with iterate.</source>
        <translation>在运行开始或恢复时正在训练的轮次结束时停止，使用 iterate 时也如此。</translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation>编码</translation>
    </message>
    <message>
        <source>How the characters of text files are stored: utf-8, windows-1252, utf-16le, shift_jis, gb18030 or any other name ICU knows. auto: found from the bytes and said; what is not UTF-8 is converted.</source>
        <translation>文本文件中字符的存储方式：utf-8、windows-1252、utf-16le、shift_jis、gb18030 或 ICU 认识的其他名称。auto：由字节判断并说明；不是 UTF-8 的内容会被转换。</translation>
    </message>
    <message>
        <source>CSV delimiter</source>
        <translation>CSV 分隔符</translation>
    </message>
    <message>
        <source>What stands between the fields of csv files: one character, or comma, semicolon, tab, pipe, space. auto: found from the first records.</source>
        <translation>csv 文件字段之间的分隔符：一个字符，或 comma、semicolon、tab、pipe、space。auto：由前面的记录判断。</translation>
    </message>
    <message>
        <source>CSV quote</source>
        <translation>CSV 引号</translation>
    </message>
    <message>
        <source>What stands around fields of csv files that hold delimiters or line ends: one character, or none. auto: the double quote.</source>
        <translation>csv 文件中含有分隔符或换行的字段两侧的字符：一个字符，或 none。auto：双引号。</translation>
    </message>
    <message>
        <source>CSV escape</source>
        <translation>CSV 转义符</translation>
    </message>
    <message>
        <source>A character that takes the meaning from the one after it in csv files, or none (a quote inside quotes is doubled). auto: a backslash where the first records show it.</source>
        <translation>csv 文件中使其后字符失去特殊含义的字符，或 none（引号内的引号写两次）。auto：前面的记录中出现时为反斜杠。</translation>
    </message>
    <message>
        <source>CSV header</source>
        <translation>CSV 表头</translation>
    </message>
    <message>
        <source>The first record of a csv file names its columns. Off: it is data, and the columns are called 1, 2, 3.</source>
        <translation>csv 文件的第一条记录是列名。关闭：它是数据，各列称为 1、2、3。</translation>
    </message>
    <message>
        <source>Changed or damaged files</source>
        <translation>已更改或损坏的文件</translation>
    </message>
    <message>
        <source>Unreadable rows, at most</source>
        <translation>不可读的行，最多</translation>
    </message>
    <message>
        <source>Start at</source>
        <translation>起始处</translation>
    </message>
    <message>
        <source>BLOCK:CHUNK, both from 0: the first epoch begins with this chunk, goes on with what comes after it in the data and ends with what comes before it, so nothing is left out. Both parts are shuffled as usual; later epochs are as without it. The data is looked through up to there before training begins. Empty: at the beginning.</source>
        <translation>块:数据段，两者都从 0 起：第一轮从这个数据段开始，接着训练数据中它之后的部分，最后训练它之前的部分，因此不会遗漏任何内容。两部分照常打乱；之后各轮不变。训练开始前会先浏览到该处的数据。留空：从头开始。</translation>
    </message>
    <message>
        <source>Expected loss</source>
        <translation>预期损失</translation>
    </message>
    <message>
        <source>What fresh weights are expected to need for new text after the first megabyte, as a multiple of what zstd needs for it. Learnt from runs of the presets on prose, code, licences, tables and logs.</source>
        <translation>在训练第一兆字节之后，全新权重对新文本预期所需的位数，以 zstd 所需位数的倍数表示。由各预设在散文、代码、许可证、表格和日志上的运行得出。</translation>
    </message>
    <message>
        <source>Expected loss, fall</source>
        <translation>预期损失的下降</translation>
    </message>
    <message>
        <source>How the expected loss falls with the text that was trained: megabytes to the power of minus this.</source>
        <translation>预期损失随已训练文本下降的方式：兆字节数的负此值次幂。</translation>
    </message>
    <message>
        <source>Loss alarm below</source>
        <translation>损失警报下限</translation>
    </message>
    <message>
        <source>Transfers</source>
        <translation>传输数</translation>
    </message>
    <message>
        <source>Ranges of a file that the feeder of a run fetches from a server at once. More than a few are of use on slow or distant connections only, and a server may refuse them.</source>
        <translation>运行的供数进程同时从服务器获取的文件区段数。多于几个只在慢速或远距离连接上有用，而且服务器可能拒绝。</translation>
    </message>
    <message>
        <source>How the replicas of the workers become one model: average of weights by tokens, DiLoCo (average with outer momentum; the last round keeps what evaluates best of outer step and plain average), or none: N models.</source>
        <translation>工作进程的副本如何成为一个模型：按词元平均权重、DiLoCo（带外层动量的平均；最后一轮在外层步与普通平均中保留评估更好者），或不合并：N 个模型。</translation>
    </message>
    <message>
        <source>%1 0: %2.</source>
        <translation>%1 0：%2。</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>无限制</translation>
    </message>
    <message>
        <source>Longer samples are filtered and counted.</source>
        <translation>更长的样本被过滤并计数。</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Use only this many samples of each source.</source>
        <translation>每个来源只用这么多样本。</translation>
    </message>
    <message>
        <source>as many as heads</source>
        <translation>与头数相同</translation>
    </message>
    <message>
        <source>Heads of keys and values in grouped-query attention.</source>
        <translation>分组查询注意力中键和值的头数。</translation>
    </message>
    <message>
        <source>the usual one for the activation</source>
        <translation>该激活函数的常用值</translation>
    </message>
    <message>
        <source>Inner size of the feed-forward part.</source>
        <translation>前馈部分的内部大小。</translation>
    </message>
    <message>
        <source>one for all tokens</source>
        <translation>只有一个，供所有词元使用</translation>
    </message>
    <message>
        <source>Feed-forward parts to choose from in each block (mixture of experts).</source>
        <translation>每一层中可选的前馈部分（专家混合）。</translation>
    </message>
    <message>
        <source>as many as layers</source>
        <translation>与层数相同</translation>
    </message>
    <message>
        <source>hrm: blocks of the fast module.</source>
        <translation>hrm：快速模块的层数。</translation>
    </message>
    <message>
        <source>train all weights</source>
        <translation>训练全部权重</translation>
    </message>
    <message>
        <source>Train only a pair of small matrices beside each linear layer and keep the weights of init_from as they are.</source>
        <translation>只训练每个线性层旁的一对小矩阵，init_from 的权重保持不变。</translation>
    </message>
    <message>
        <source>twice the rank</source>
        <translation>秩的两倍</translation>
    </message>
    <message>
        <source>The pairs are scaled by alpha / rank.</source>
        <translation>矩阵对按 alpha / 秩 缩放。</translation>
    </message>
    <message>
        <source>as the stopping rules or the epochs say</source>
        <translation>按停止规则或轮数</translation>
    </message>
    <message>
        <source>Tokens of the run at which the final rate is reached.</source>
        <translation>达到最终学习率时的运行词元数。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>不使用</translation>
    </message>
    <message>
        <source>Keep a moving average of the weights with this decay; evaluation, samples and exports use it.</source>
        <translation>以此衰减保持权重的滑动平均；评估、文本示例和导出使用它。</translation>
    </message>
    <message>
        <source>one per device, two on a CPU</source>
        <translation>每个设备一个，CPU 上两个</translation>
    </message>
    <message>
        <source>Number of workers. Where they are never merged, 0 makes one on a CPU.</source>
        <translation>工作进程数。若从不合并，0 在 CPU 上为一个。</translation>
    </message>
    <message>
        <source>Threads per worker</source>
        <translation>每个工作进程的线程</translation>
    </message>
    <message>
        <source>cores divided by workers</source>
        <translation>核心数除以工作进程数</translation>
    </message>
    <message>
        <source>CPU threads of one worker.</source>
        <translation>一个工作进程的 CPU 线程数。</translation>
    </message>
    <message>
        <source>Stop after this many optimiser steps, summed over the workers.</source>
        <translation>所有工作进程的优化步合计达到此数后停止。</translation>
    </message>
    <message>
        <source>by time only</source>
        <translation>仅按时间</translation>
    </message>
    <message>
        <source>Also save after this many own steps of a worker; at the end of its chunk where that is at most five seconds away.</source>
        <translation>工作进程自身每这么多步也保存一次；若其数据段至多五秒后结束，则在段末保存。</translation>
    </message>
    <message>
        <source>no clipping</source>
        <translation>不裁剪</translation>
    </message>
    <message>
        <source>Largest norm of the gradient.</source>
        <translation>梯度的最大范数。</translation>
    </message>
    <message>
        <source>only at the end</source>
        <translation>仅在结束时</translation>
    </message>
    <message>
        <source>Own steps of a worker between two evaluations on held-out text.</source>
        <translation>工作进程在留出文本上两次评估之间的自身步数。</translation>
    </message>
    <message>
        <source>never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>Own steps of worker 0 between two text samples.</source>
        <translation>工作进程 0 两次生成文本之间的自身步数。</translation>
    </message>
    <message>
        <source>An alarm is raised when the loss on new text lies below this share of the expected one: labels may not be shifted, or the data contains copies of itself.</source>
        <translation>当新文本上的损失低于预期损失的这一比例时发出警报：标签可能没有移位，或者数据中包含重复内容。</translation>
    </message>
    <message>
        <source>ten times an epoch</source>
        <translation>每轮十次</translation>
    </message>
    <message>
        <source>Tokens of the run between two merges. With 0 none comes before each worker has done 250 steps. There is always one at the end.</source>
        <translation>两次合并之间的词元数。为 0 时，每个工作进程完成 250 步之前不合并。结束时总会合并一次。</translation>
    </message>
    <message>
        <source>Files, folders or globs with text (txt, csv, tsv, jsonl, json, parquet, arrow, warc; plain, .gz, .zst, .xz or .bz2; all but compressed Parquet and Arrow also inside .zip and .tar), or hf://owner/name[:config][:split][@revision], https://host/file, s3://bucket/key, gs://bucket/key (a folder that ends in /, a pattern).</source>
        <translation>含文本的文件、文件夹或通配符（txt、csv、tsv、jsonl、json、parquet、arrow、warc；未压缩、.gz、.zst、.xz 或 .bz2；除压缩的 Parquet 和 Arrow 外也可在 .zip 和 .tar 中），或 hf://所有者/名称[:config][:split][@revision]、https://服务器/文件、s3://存储桶/键、gs://存储桶/键（以 / 结尾的文件夹或模式）。</translation>
    </message>
    <message>
        <source>Tokens in one training window. With init_from at most the context of that model, which stays as it is.</source>
        <translation>一个训练窗口中的词元数。使用 init_from 时不超过该模型的上下文，而模型的上下文保持不变。</translation>
    </message>
    <message>
        <source>Inside the feed-forward part; the ones with glu have a gate. gelu is the form with tanh.</source>
        <translation>前馈部分内部；带 glu 的有门控。gelu 是 tanh 形式。</translation>
    </message>
    <message>
        <source>Shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>The whole shape of a model as JSON, for what has no setting of its own; init_from fills it in. Empty: the settings above.</source>
        <translation>以 JSON 表示的模型完整形状，用于没有单独设置的部分；由 init_from 填写。空：采用上面的设置。</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>对话模板</translation>
    </message>
    <message>
        <source>How rows that are conversations (messages, ShareGPT, Alpaca, prompt and completion; found by their columns) become text: chatml, the file of a template, or the folder of a model that has one. Empty: that of the model of init_from, and without one the rows are plain text. none: plain text in any case.</source>
        <translation>对话行（messages、ShareGPT、Alpaca、prompt 与 completion；按列名识别）如何变成文本：chatml、模板文件，或带有模板的模型文件夹。留空：使用 init_from 模型的模板；若没有，则这些行按纯文本处理。none：一律按纯文本处理。</translation>
    </message>
    <message>
        <source>Answers that are learnt</source>
        <translation>学习哪些回答</translation>
    </message>
    <message>
        <source>Which turns of the assistant count in the loss; everything else is read but not learnt. A turn is what the template marks with {% generation %} or, without such marks, what it adds when the turn is there.</source>
        <translation>助手的哪些回合计入损失；其余内容只读取、不学习。回合是模板用 {% generation %} 标记的部分；没有此标记时，是该回合存在时模板多写出的部分。</translation>
    </message>
    <message>
        <source>Longer than a window</source>
        <translation>长于一个窗口的样本</translation>
    </message>
    <message>
        <source>Samples apart</source>
        <translation>样本隔离</translation>
    </message>
    <message>
        <source>Whether a sample reads nothing of the samples before it in the same window: attention stays inside it and positions begin anew, as if it were trained alone; held-out loss is measured so too. auto: for conversations with architecture gpt. off: a window is one text.</source>
        <translation>样本是否完全不读取同一窗口中它之前的样本：注意力只在样本内部，位置重新计数，如同单独训练；留出文本的损失也这样计算。auto：用于架构 gpt 的对话。off：一个窗口就是一段文本。</translation>
    </message>
    <message>
        <source>Samples in windows</source>
        <translation>样本在窗口中的排列</translation>
    </message>
    <message>
        <source>A checkpoint folder of a run, a Hugging Face folder with model.safetensors, a GGUF, or a model of the hub (hf://owner/name, which the command line brings to this machine first), whose weights the run starts from. Shape and tokenizer are taken from there. Empty: fresh weights.</source>
        <translation>运行从其权重开始的检查点文件夹、带有 model.safetensors 的 Hugging Face 文件夹、GGUF，或 Hub 上的模型（hf://owner/name，命令行会先把它下载到本机）。形状和分词器取自那里。留空：全新的权重。</translation>
    </message>
    <message>
        <source>Questions</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>A JSONL file of questions with known answers, a multiple choice (question, choices, gold) or written (question, answer), that each evaluation puts to the model too, as &apos;furrowctl eval --tasks&apos; does afterwards; the share of right answers is told beside the loss. The run keeps a copy. Empty: none.</source>
        <translation>一个 JSONL 文件，其中是答案已知的问题：选择题（question、choices、gold）或问答题（question、answer）。每次评估也会向模型提出这些问题，与事后的 furrowctl eval --tasks 相同；正确回答的比例与损失一同给出。运行保存一份副本。留空：没有。</translation>
    </message>
    <message>
        <source>Questions, at most</source>
        <translation>问题上限</translation>
    </message>
    <message>
        <source>questions</source>
        <translation>个问题</translation>
    </message>
    <message>
        <source>First questions of eval_tasks that one evaluation asks. Training waits meanwhile.</source>
        <translation>一次评估提出 eval_tasks 中的前若干个问题。其间训练等待。</translation>
    </message>
    <message>
        <source>Column that holds the text in csv, jsonl, json, parquet, arrow and WebDataset; meta.text, paragraphs[] and messages[].content name what is nested, and the texts of a list are joined by line breaks. In one JSON document data[].text names the list whose elements are rows. Empty: the first of text, txt, content, sentence, document, article, body, whatever their case, also as the last part of a nested name (meta.text), else the column with the most text, by the first 100 rows.</source>
        <translation>csv、jsonl、json、parquet、arrow 和 WebDataset 中包含文本的列；meta.text、paragraphs[] 和 messages[].content 指嵌套的内容，列表中的文本用换行连接。在单个 JSON 文档中，data[].text 指其元素为行的列表。留空：取 text、txt、content、sentence、document、article、body 中的第一个，不分大小写，也可以是嵌套名称的最后一部分（meta.text），否则取前 100 行中文本最多的列。</translation>
    </message>
    <message>
        <source>Stop after this much active time. Pauses, and waits for data that cannot be reached, are not in it.</source>
        <translation>活动时间达到此值后停止。暂停和等待无法访问的数据的时间不计入。</translation>
    </message>
    <message>
        <source>How samples come to lie in the windows of a chunk. end_to_end: one after the other, and what does not fit goes on in the next window; there is no padding but in the last. best_fit: a sample is whole in one window if it fits into one, the longest first, each where the least room is left over; the rest of a window is padding, whose share is shown. single: each sample begins a window of its own. auto: best_fit for conversations that are kept apart (document_masks), else end_to_end.</source>
        <translation>样本如何排入数据段的窗口。end_to_end：一个接一个，放不下的部分接到下一窗口；只有最后一个窗口有填充。best_fit：只要放得下，一个样本就完整地位于一个窗口，最长的在先，各放在剩余空间最小之处；窗口其余部分为填充，其占比会显示。single：每个样本各自从一个新窗口开始。auto：对彼此隔开的对话（document_masks）用 best_fit，否则用 end_to_end。</translation>
    </message>
    <message>
        <source>Clip per sample</source>
        <translation>逐样本裁剪</translation>
    </message>
    <message>
        <source>no clipping by sample</source>
        <translation>不逐样本裁剪</translation>
    </message>
    <message>
        <source>Largest norm of the gradient of one window alone (elsewhere max_grad_norm): no window moves the weights further than that in a step. A step is the mean over its windows then, each by the mean of its labels. For architecture gpt without experts; on a CPU by libtorch&apos;s operators.</source>
        <translation>单个窗口梯度的最大范数（别处称 max_grad_norm）：一步中任何窗口对权重的推动都不超过它。此时一步是各窗口的平均，每个窗口取其标签的平均。适用于不含专家的 gpt 架构；在 CPU 上使用 libtorch 的算子。</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>隐私</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Private training: normal noise on the sum of clipped gradients, its deviation this many times clip_per_sample. 0.5 to 2 is usual; the larger a step (batch_size, grad_accum), the less it is felt.</source>
        <translation>隐私训练：在裁剪后梯度之和上加正态噪声，其标准差是 clip_per_sample 的这么多倍。通常为 0.5 到 2；一步越大（batch_size、grad_accum），影响越小。</translation>
    </message>
    <message>
        <source>Private unit</source>
        <translation>隐私单元</translation>
    </message>
    <message>
        <source>Whose part is bounded and hidden. window: as much text as is trained together. sample: a row of the data, which then has a window of its own (packing single, long_samples cut or leave_out).</source>
        <translation>谁的份额受限并被掩盖。window：一起训练的一段文本。sample：数据的一行，此时各占一个窗口（packing single，long_samples cut 或 leave_out）。</translation>
    </message>
    <message>
        <source>Delta</source>
        <translation>Delta</translation>
    </message>
    <message>
        <source>no epsilon is said</source>
        <translation>不给出 epsilon</translation>
    </message>
    <message>
        <source>Of the guarantee that status and audit state: epsilon at this delta. It should be well below one divided by the number of units, such as 0.000001.</source>
        <translation>状态和审计所给保证的 delta：此 delta 下的 epsilon。应远小于单元数的倒数，例如 0.000001。</translation>
    </message>
    <message>
        <source>Epsilon, at most</source>
        <translation>Epsilon 上限</translation>
    </message>
    <message>
        <source>The run ends before any unit takes part once more than this allows, whatever else was asked for. What was trained and lost with its weights counts too.</source>
        <translation>在任何单元的参与次数超出此值允许的范围之前结束训练，无论另外要求了什么。训练过但随权重丢失的也计入。</translation>
    </message>
    <message>
        <source>A file that names what is not trained, one entry a line: chunk BLOCK:COLUMN, sample FINGERPRINT, pattern REGEX. Chunks are counted as left out, samples as filtered.</source>
        <translation>列出不训练内容的文件，每行一项：chunk BLOCK:COLUMN、sample FINGERPRINT、pattern REGEX。数据段计为排除，样本计为过滤。</translation>
    </message>
    <message>
        <source>Stop with the step that reaches this many trained tokens.</source>
        <translation>在达到这么多已训练词元的那一步停止。</translation>
    </message>
    <message>
        <source>Beginning of the text samples; empty: a text of its own.</source>
        <translation>示例文本的开头；留空则由模型自己开头。</translation>
    </message>
    <message>
        <source>byte, char (characters found in the data), gpt2, or the path of a tokenizer.json or sentencepiece .model. A special token (&lt;s&gt;) that stands in a text of the data is plain text; in conversations it is the token, as where transformers applies the template.</source>
        <translation>byte、char（数据中出现的字符）、gpt2，或 tokenizer.json 或 sentencepiece .model 的路径。数据文本中出现的特殊词元（&lt;s&gt;）只是普通文本；在对话中则是该词元，与 transformers 套用模板时一样。</translation>
    </message>
    <message>
        <source>End when this many blocks are trained. Blocks are shuffled within a window (shuffle_window_blocks), so that chunks of others are trained by then too. A block of which this run trains nothing does not count: all of it is left out, was trained by the parent run, or has nothing to train.</source>
        <translation>训练完这么多块后结束。块在一个窗口内打乱（shuffle_window_blocks），因此到那时其他块的一些数据段也已训练。本次运行完全没有训练的块不计入：它全部被排除、已由父运行训练，或没有可训练的内容。</translation>
    </message>
    <message>
        <source>What becomes of samples that are longer than seq_len, with the end-of-text after each: they go on in the next window (split), their end is cut off (cut), or they are not trained (leave_out). Those that are cut or left out are counted. Of a pair of answers each with its prompt may have half of seq_len, and split leaves out what is longer.</source>
        <translation>连同其后的文本结束符长于 seq_len 的样本如何处理：在下一个窗口继续（split）、截去末尾（cut），或不训练（leave_out）。被截断或排除的样本会计数。一对回答中，每个回答连同提示最多占 seq_len 的一半，更长的在 split 时被排除。</translation>
    </message>
    <message>
        <source>What happens when a file of the data is not any more what it was when the run was made, or its rest cannot be read: the run stops and says so (stop), or what of the file is not prepared yet is left out, by name (leave_out). Rows that are left out because they cannot be read count as unreadable, but not towards max_unreadable_percent.</source>
        <translation>当数据中的某个文件与创建运行时不同，或其余部分无法读取时怎么办：运行停止并说明（stop），或将该文件中尚未准备的部分按名称排除（leave_out）。因无法读取而被排除的行计为无法读取，但不计入 max_unreadable_percent。</translation>
    </message>
    <message>
        <source>The run stops when a larger share of the rows read so far cannot be read, and at least ten of them. Those that bad_files leaves out do not count. 100: no limit.</source>
        <translation>当目前已读取的行中无法读取的比例超过此值且至少有十行时，运行停止。bad_files 排除的行不计入。100：无限制。</translation>
    </message>
    <message>
        <source>Trained for</source>
        <translation>训练目标</translation>
    </message>
    <message>
        <source>next_token: to go on with texts and conversations. dpo: direct preference optimisation (arXiv:2305.18290); the rows are pairs of a chosen and a rejected answer, and the model learns to make the chosen one likelier than its start weights make it, as against the other one. It needs lora_rank: the start weights, with the pairs of LoRA switched off, are the reference.</source>
        <translation>next_token：续写文本和对话。dpo：直接偏好优化（arXiv:2305.18290）；每行是一对回答，一个被选中、一个被拒绝，模型学习使被选中的回答相对于另一个回答比在初始权重下更可能出现。需要 lora_rank：关闭 LoRA 矩阵对的初始权重就是参考。</translation>
    </message>
    <message>
        <source>DPO beta</source>
        <translation>DPO beta</translation>
    </message>
    <message>
        <source>With objective dpo: how closely the model is held to its start weights. The smaller, the further it may go. 0.05 to 0.5 is usual; with dpo_normalise length 2 to 10.</source>
        <translation>objective 为 dpo 时：模型与初始权重保持多接近。值越小，可偏离越远。通常为 0.05 到 0.5；dpo_normalise 为 length 时为 2 到 10。</translation>
    </message>
    <message>
        <source>DPO by length</source>
        <translation>DPO 按长度</translation>
    </message>
    <message>
        <source>With objective dpo: what is compared of two answers. none: the log-probability of the whole answer against that of the reference (loss_type sigmoid of trl). length: the same divided by the tokens of the answer, so that a long answer does not count for its length (sigmoid_norm of trl).</source>
        <translation>objective 为 dpo 时：比较两个回答的什么。none：整个回答的对数概率与参考之差（trl 的 loss_type sigmoid）。length：再除以回答的词元数，使长回答不因长度占优（trl 的 sigmoid_norm）。</translation>
    </message>
    <message>
        <source>On a GPU, replay what a micro-batch does as one CUDA graph: fewer launches, more memory. It is compared with an ordinary pass before it is used. Not for mixture of experts, recomputed activations, HRM, preferences and data-parallel training.</source>
        <translation>在 GPU 上把一个微批次的计算作为一张 CUDA 图重放：启动次数更少，占用内存更多。使用前会与普通计算对比。不适用于混合专家、重算激活、HRM、偏好训练和数据并行训练。</translation>
    </message>
</context>
<context>
    <name>SmallCharts</name>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>per worker, each on its own schedule</source>
        <translation>每个工作进程，各自的计划</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>每秒词元数</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>before clipping</source>
        <translation>裁剪之前</translation>
    </message>
    <message>
        <source>Parameter norm</source>
        <translation>参数范数</translation>
    </message>
    <message>
        <source>per replica</source>
        <translation>每个副本</translation>
    </message>
    <message>
        <source>Drift of replicas</source>
        <translation>副本的偏移</translation>
    </message>
    <message>
        <source>from their mean at each merge</source>
        <translation>每次合并时与均值的距离</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>MiB per worker</source>
        <translation>每个工作进程的 MiB</translation>
    </message>
    <message>
        <source>Waiting for data</source>
        <translation>等待数据</translation>
    </message>
    <message>
        <source>ms per step</source>
        <translation>每步的毫秒数</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>mean %1</source>
        <translation>平均 %1</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>正确回答</translation>
    </message>
    <message>
        <source>share of the questions, at each evaluation</source>
        <translation>每次评估时占问题的比例</translation>
    </message>
    <message>
        <source>Privacy spent</source>
        <translation>已用隐私预算</translation>
    </message>
    <message>
        <source>epsilon at most, of any unit</source>
        <translation>任一单元的 epsilon 上限</translation>
    </message>
    <message>
        <source>all workers, stacked</source>
        <translation>所有工作进程，堆叠</translation>
    </message>
    <message>
        <source>Margin of the chosen answers</source>
        <translation>被选中回答的差距</translation>
    </message>
    <message>
        <source>mean of a step, against the start weights</source>
        <translation>每步均值，相对初始权重</translation>
    </message>
    <message>
        <source>Chosen answers preferred</source>
        <translation>偏好被选中的回答</translation>
    </message>
    <message>
        <source>share of the pairs of a step</source>
        <translation>占每步各对回答的比例</translation>
    </message>
</context>
<context>
    <name>StateGlyph</name>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
</context>
<context>
    <name>Tables</name>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>in training</source>
        <translation>训练中</translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet</source>
        <translation>已训练，尚未进检查点</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>given back</source>
        <translation>已交还</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>trained twice</source>
        <translation>训练两次</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>claimed twice at once</source>
        <translation>同时被领取两次</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>有毒</translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation>有毒，已接受</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>may change</source>
        <translation>可更改</translation>
    </message>
    <message>
        <source>changes the curves</source>
        <translation>影响曲线</translation>
    </message>
    <message>
        <source>fixed</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>级别</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>数据段</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>发生了什么</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>组</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>键</translation>
    </message>
    <message>
        <source>Unit</source>
        <translation>单位</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>On resume</source>
        <translation>恢复时</translation>
    </message>
    <message>
        <source>Meaning</source>
        <translation>含义</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Chunks</source>
        <translation>数据段</translation>
    </message>
    <message>
        <source>Committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>Leased</source>
        <translation>已领取</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Not prepared</source>
        <translation>未准备</translation>
    </message>
    <message>
        <source>Left out</source>
        <translation>略去</translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation>平均损失</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Lost</source>
        <translation>丢失</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>结束</translation>
    </message>
    <message>
        <source>Claim</source>
        <translation>领取</translation>
    </message>
    <message>
        <source>Begun</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Phase, or why it ended</source>
        <translation>阶段或结束原因</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Of</source>
        <translation>所属</translation>
    </message>
    <message>
        <source>merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>副本 %1</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>保存时间</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation>训练次数</translation>
    </message>
    <message>
        <source>What and why</source>
        <translation>内容与原因</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>距今时间</translation>
    </message>
    <message>
        <source>left behind</source>
        <translation>已放弃</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>not checked yet</source>
        <translation>尚未检查</translation>
    </message>
    <message>
        <source>verified at %1</source>
        <translation>已于 %1 核验</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>已核验</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>已删除</translation>
    </message>
    <message>
        <source>best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已固定</translation>
    </message>
    <message>
        <source>Mark</source>
        <translation>标记</translation>
    </message>
    <message>
        <source>%1 (begun with %2)</source>
        <translation>%1（开始时为 %2）</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>newest of its replica</source>
        <translation>其副本中最新</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>%1 to C%2</source>
        <translation>%1 至 C%2</translation>
    </message>
    <message>
        <source>training %1</source>
        <translation>训练 %1</translation>
    </message>
    <message>
        <source>data %1</source>
        <translation>数据 %1</translation>
    </message>
    <message>
        <source>merging %1</source>
        <translation>合并 %1</translation>
    </message>
    <message>
        <source>checkpoints %1</source>
        <translation>检查点 %1</translation>
    </message>
    <message>
        <source>evaluation %1</source>
        <translation>评估 %1</translation>
    </message>
    <message>
        <source>ledger %1</source>
        <translation>账本 %1</translation>
    </message>
    <message>
        <source>telemetry %1</source>
        <translation>遥测 %1</translation>
    </message>
    <message>
        <source>It took %1: %2</source>
        <translation>用时 %1：%2</translation>
    </message>
    <message>
        <source>most trained</source>
        <translation>训练最多</translation>
    </message>
    <message>
        <source>not alive, no end was recorded</source>
        <translation>未存活，未记录其结束</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>部分已训练</translation>
    </message>
    <message>
        <source>Steps in it</source>
        <translation>其中的步数</translation>
    </message>
    <message>
        <source>Optimiser steps that are in these weights, those of all replicas that were merged into them.</source>
        <translation>这些权重中包含的优化步数，包括合并进来的所有副本的步数。</translation>
    </message>
    <message>
        <source>Tokens in it</source>
        <translation>其中的词元数</translation>
    </message>
    <message>
        <source>Tokens that are in these weights, those of all replicas that were merged into them.</source>
        <translation>这些权重中包含的词元数，包括合并进来的所有副本的词元数。</translation>
    </message>
    <message>
        <source>Own steps</source>
        <translation>自身步数</translation>
    </message>
    <message>
        <source>Optimiser steps that this worker has made, those whose work was lost too. Of a merge: those in the weights that it wrote.</source>
        <translation>该工作进程做过的优化步数，包括成果已丢失的步数。对于合并：其写出的权重中包含的步数。</translation>
    </message>
    <message>
        <source>Own tokens</source>
        <translation>自身词元数</translation>
    </message>
    <message>
        <source>saved later</source>
        <translation>之后才保存</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>Tokens that this worker has trained, those whose work was lost too. Of a merge: those in the weights that it wrote. Where all workers train one model, worker 0 has those of all of them since the run began, and each other one its own part since its process started.</source>
        <translation>该工作进程训练过的词元数，包括成果已丢失的词元。对于合并：其写出的权重中包含的词元数。若所有工作进程共同训练一个模型，工作进程 0 的数值是运行开始以来全部工作进程的词元数，其余各自是其进程启动以来自己的那一份。</translation>
    </message>
    <message>
        <source>Trained or begun, and their weights are gone: they are trained again. Below the meters of the overview it says how many went with their workers, by going back to an older checkpoint, and with damage.</source>
        <translation>已训练或已开始，但其权重已不存在：将再次训练。概览页的计量条下方说明其中多少是随工作进程丢失、因回到较早的检查点丢失、因损坏丢失。</translation>
    </message>
    <message>
        <source>Loss of the newest step that this worker told of, also where that step was lost with its weights.</source>
        <translation>该工作进程最近一次报告的训练步的损失，即使该步已随其权重丢失。</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>New</source>
        <translation>新建</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation>未准备</translation>
    </message>
    <message>
        <source>free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>leased</source>
        <translation>已领取</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>excluded</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>poisoned</source>
        <translation>有毒</translation>
    </message>
    <message>
        <source>poisoned, accepted</source>
        <translation>有毒，已接受</translation>
    </message>
    <message>
        <source>debug</source>
        <translation>调试</translation>
    </message>
    <message>
        <source>info</source>
        <translation>信息</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Block %1, chunk %2</source>
        <translation>块 %1，数据段 %2</translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 词元/秒</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 毫秒</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 分 %2 秒</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 小时 %2 分</translation>
    </message>
    <message>
        <source>%1 d %2 h</source>
        <translation>%1 天 %2 小时</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation>%1 秒前</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation>%1前</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message numerus="yes">
        <source>%n worker(s)</source>
        <translation>
            <numerusform>%n 个工作进程</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 · attempt %2</source>
        <translation>%1 · 第 %2 次尝试</translation>
    </message>
    <message>
        <source>not started yet</source>
        <translation>尚未开始</translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s) · %1</source>
        <translation>
            <numerusform>%n 轮 · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Finished (marked by hand)</source>
        <translation>已完成（手动标记）</translation>
    </message>
    <message>
        <source>finished (marked by hand) · %1</source>
        <translation>已完成（手动标记）· %1</translation>
    </message>
    <message>
        <source>%1 %2 → %3</source>
        <translation>%1 %2 → %3</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chunk(s) · %1</source>
        <translation>
            <numerusform>%Ln 个数据段 · %1</numerusform>
        </translation>
    </message>
    <message>
        <source>warming up</source>
        <translation>正在预热</translation>
    </message>
    <message>
        <source>training</source>
        <translation>正在训练</translation>
    </message>
    <message>
        <source>evaluating</source>
        <translation>正在评估</translation>
    </message>
    <message>
        <source>saving a checkpoint</source>
        <translation>正在保存检查点</translation>
    </message>
    <message>
        <source>merging</source>
        <translation>正在合并</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>正在等待</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Epoch %1</source>
        <translation>第 %1 轮</translation>
    </message>
    <message>
        <source>Epochs %1 and %2</source>
        <translation>第 %1 和第 %2 轮</translation>
    </message>
    <message>
        <source>Epochs %1 to %2</source>
        <translation>第 %1 至 %2 轮</translation>
    </message>
    <message>
        <source>made %1</source>
        <translation>创建于 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) left out as repeats of text before them.</source>
        <translation>
            <numerusform>%n 个样本因与之前的文本重复而略去。</numerusform>
        </translation>
    </message>
    <message>
        <source>When last read, at %1, the run was: %2.</source>
        <translation>上次读取时（%1），该运行的状态为：%2。</translation>
    </message>
    <message>
        <source>unknown since %1</source>
        <translation>自 %1 起不明</translation>
    </message>
    <message>
        <source>A copy: %1 is the same run in another folder. Each goes on by itself.</source>
        <translation>副本：%1 是另一个文件夹中的同一运行。两者各自继续。</translation>
    </message>
    <message>
        <source>standing still</source>
        <translation>停住</translation>
    </message>
    <message>
        <source>partly trained</source>
        <translation>部分已训练</translation>
    </message>
    <message>
        <source>%1 (lost)</source>
        <translation>%1（已丢失）</translation>
    </message>
    <message>
        <source>From steps that are in no checkpoint: their weights are gone, and they are trained again</source>
        <translation>来自不在任何检查点中的训练步：其权重已丢失，会重新训练</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>“%1”</translation>
    </message>
    <message>
        <source>Of all attempts, while a worker lived: without pauses, and without waits for data that cannot be reached. Hours to train for and tokens per second go by it.</source>
        <translation>所有尝试中有工作进程存活的时间：不含暂停，也不含等待无法访问的数据的时间。训练小时数和每秒词元数按它计算。</translation>
    </message>
    <message>
        <source>Pausing</source>
        <translation>正在暂停</translation>
    </message>
    <message>
        <source>In checkpoints and in the weights of living workers, with the chunks under way. What went with its weights is not among them.</source>
        <translation>在检查点和存活工作进程的权重中，包括正在训练的数据段。随权重一起丢失的不计在内。</translation>
    </message>
    <message numerus="yes">
        <source>Loss of the newest step, mean of %n worker(s), weighted by the tokens trained</source>
        <translation>
            <numerusform>最新一步的损失，%n 个工作进程的均值，按已训练的词元数加权</numerusform>
        </translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>父运行已训练</translation>
    </message>
    <message>
        <source>partly trained, the rest left out</source>
        <translation>部分已训练，其余被排除</translation>
    </message>
    <message>
        <source>work lost, a part of it kept</source>
        <translation>工作丢失，保留了一部分</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1，另有 %2 个</translation>
    </message>
</context>
<context>
    <name>furrow::Actions</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Data</source>
        <translation>数据(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <translation>工具(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Choose data, model and devices, and start training</source>
        <translation>选择数据、模型和设备，开始训练</translation>
    </message>
    <message>
        <source>New run from this one…</source>
        <translation>以此运行为起点新建…</translation>
    </message>
    <message>
        <source>Start a new run with the configuration of the one shown</source>
        <translation>用所示运行的配置开始新的运行</translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation>打开运行文件夹…</translation>
    </message>
    <message>
        <source>Show a run that lies outside the workspace</source>
        <translation>显示工作区之外的运行</translation>
    </message>
    <message>
        <source>Open workspace…</source>
        <translation>打开工作区…</translation>
    </message>
    <message>
        <source>Save picture of the window…</source>
        <translation>保存窗口图片…</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Close the console; training goes on</source>
        <translation>关闭控制台；训练继续</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>筛选运行</translation>
    </message>
    <message>
        <source>Find on this page</source>
        <translation>在本页查找</translation>
    </message>
    <message>
        <source>Clear selection</source>
        <translation>清除选择</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>Follow the run. Off freezes the views; the run goes on</source>
        <translation>跟随运行；关闭时视图停住，运行继续</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation>损失轴取对数</translation>
    </message>
    <message>
        <source>Previous zoom</source>
        <translation>返回上一次缩放</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>概览</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>图表</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>覆盖</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>重置布局</translation>
    </message>
    <message>
        <source>Put every dock back in its place</source>
        <translation>把所有面板放回原位</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation>在训练中的数据段结束时暂停</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation>保存检查点后停止</translation>
    </message>
    <message>
        <source>Kill…</source>
        <translation>强制结束…</translation>
    </message>
    <message>
        <source>End all processes of the run now</source>
        <translation>立即结束该运行的所有进程</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Look at what a resume would do, then go on</source>
        <translation>先看恢复会做什么，再继续</translation>
    </message>
    <message>
        <source>Save checkpoint now</source>
        <translation>立即保存检查点</translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation>为何是此状态？</translation>
    </message>
    <message>
        <source>The evidence for the state of the run</source>
        <translation>运行状态的依据</translation>
    </message>
    <message>
        <source>Previous attempt</source>
        <translation>上一次尝试</translation>
    </message>
    <message>
        <source>Next attempt</source>
        <translation>下一次尝试</translation>
    </message>
    <message>
        <source>Next alert</source>
        <translation>下一条警报</translation>
    </message>
    <message>
        <source>Previous alert</source>
        <translation>上一条警报</translation>
    </message>
    <message>
        <source>Show selected chunk in the map</source>
        <translation>在图中显示所选数据段</translation>
    </message>
    <message>
        <source>Read samples of the selected chunk</source>
        <translation>阅读所选数据段的样本</translation>
    </message>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Find and run any command</source>
        <translation>查找并执行任意命令</translation>
    </message>
    <message>
        <source>Copy path of the run</source>
        <translation>复制运行路径</translation>
    </message>
    <message>
        <source>Open folder of the run</source>
        <translation>打开运行的文件夹</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>What the words mean</source>
        <translation>术语说明</translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation>关于 Furrow</translation>
    </message>
    <message>
        <source>Compare runs…</source>
        <translation>比较运行…</translation>
    </message>
    <message>
        <source>All runs as a table; compare two to eight of them side by side</source>
        <translation>所有运行的表格，并排比较二至八个</translation>
    </message>
    <message>
        <source>Save page as picture…</source>
        <translation>将页面存为图片…</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>回放</translation>
    </message>
    <message>
        <source>Play back the history of the run</source>
        <translation>回放运行的历史</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>Save perspective…</source>
        <translation>保存视角…</translation>
    </message>
    <message>
        <source>Save docks and page under a name of your own</source>
        <translation>以自己的名称保存面板和页面</translation>
    </message>
    <message>
        <source>Remove this perspective</source>
        <translation>删除此视角</translation>
    </message>
    <message>
        <source>Put into the queue</source>
        <translation>加入队列</translation>
    </message>
    <message>
        <source>Starts by itself when its devices are free</source>
        <translation>设备空闲时自动开始</translation>
    </message>
    <message>
        <source>Tags and note…</source>
        <translation>标签和备注…</translation>
    </message>
    <message>
        <source>Archived</source>
        <translation>已归档</translation>
    </message>
    <message>
        <source>Leave this run out of the library</source>
        <translation>不在库中显示此运行</translation>
    </message>
    <message>
        <source>Move to trash…</source>
        <translation>移到回收站…</translation>
    </message>
    <message>
        <source>Nothing is deleted; the folder moves inside the workspace</source>
        <translation>不会删除任何内容；文件夹只在工作区内移动</translation>
    </message>
    <message>
        <source>Restore from trash…</source>
        <translation>从回收站恢复…</translation>
    </message>
    <message>
        <source>Show selected chunk in the charts</source>
        <translation>在图表中显示所选数据段</translation>
    </message>
    <message>
        <source>Show selected chunk in the log</source>
        <translation>在日志中显示所选数据段</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Runs that wait for their devices</source>
        <translation>等待设备的运行</translation>
    </message>
    <message>
        <source>Alerts…</source>
        <translation>警报…</translation>
    </message>
    <message>
        <source>What is an alert, and who is told</source>
        <translation>什么算警报，以及通知谁</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Save loss chart as picture…</source>
        <translation>将损失图存为图片…</translation>
    </message>
    <message>
        <source>As PNG, SVG or PDF</source>
        <translation>存为 PNG、SVG 或 PDF</translation>
    </message>
    <message>
        <source>Save loss chart as table…</source>
        <translation>将损失图存为表格…</translation>
    </message>
    <message>
        <source>The visible points as CSV</source>
        <translation>可见的点存为 CSV</translation>
    </message>
    <message>
        <source>Quarantine selected chunks…</source>
        <translation>隔离所选数据段…</translation>
    </message>
    <message>
        <source>Leave them out of the next run</source>
        <translation>在下一次运行中排除它们</translation>
    </message>
    <message>
        <source>Quarantine list…</source>
        <translation>隔离清单…</translation>
    </message>
    <message>
        <source>Chunks, samples and patterns that later runs leave out</source>
        <translation>以后的运行所排除的数据段、样本和模式</translation>
    </message>
    <message>
        <source>Brain…</source>
        <translation>权重谱系…</translation>
    </message>
    <message>
        <source>Its weights, and the runs they came from</source>
        <translation>其权重，以及权重经历过的运行</translation>
    </message>
    <message>
        <source>Merge replicas…</source>
        <translation>合并副本…</translation>
    </message>
    <message>
        <source>Make one model of what the workers trained separately, and compare the losses</source>
        <translation>把各工作进程分别训练的结果合成一个模型，并比较损失</translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation>标记为已完成</translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation>按现状接受此运行已结束。以后仍可恢复。</translation>
    </message>
    <message>
        <source>Resume by itself when interrupted</source>
        <translation>中断后自动恢复</translation>
    </message>
    <message>
        <source>Up to %1 times, with longer waits each time</source>
        <translation>最多 %1 次，等待时间逐次加长</translation>
    </message>
    <message>
        <source>Export run…</source>
        <translation>导出运行…</translation>
    </message>
    <message>
        <source>A report, the measurements, the model, or a bundle for developers</source>
        <translation>报告、测量数据、模型，或供开发者使用的打包文件</translation>
    </message>
    <message>
        <source>Leave out of the library</source>
        <translation>从库中移除</translation>
    </message>
    <message>
        <source>For a run outside the workspace; its folder stays as it is</source>
        <translation>用于工作区之外的运行；其文件夹保持不变</translation>
    </message>
    <message>
        <source>The shown page as PNG, SVG or PDF</source>
        <translation>将显示的页面存为 PNG、SVG 或 PDF</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>开始演示运行</translation>
    </message>
    <message>
        <source>Train a small text that comes with Furrow on the CPU</source>
        <translation>在 CPU 上训练 Furrow 自带的小文本</translation>
    </message>
    <message>
        <source>Stop after this block</source>
        <translation>此块之后停止</translation>
    </message>
    <message>
        <source>Stop when the next block is complete</source>
        <translation>在下一个块完成时停止</translation>
    </message>
    <message>
        <source>Stop after this epoch</source>
        <translation>此轮次之后停止</translation>
    </message>
    <message>
        <source>Stop at the end of the current epoch</source>
        <translation>在当前轮次结束时停止</translation>
    </message>
    <message>
        <source>Evaluate now</source>
        <translation>立即评估</translation>
    </message>
    <message>
        <source>Each worker evaluates its weights on the held-out text at its next step</source>
        <translation>每个工作进程在下一步用留出文本评估其权重</translation>
    </message>
    <message>
        <source>Try poisoned chunks again</source>
        <translation>重试有毒的数据段</translation>
    </message>
    <message>
        <source>Prepare and train them once more: those selected, otherwise all</source>
        <translation>再次准备并训练：所选的数据段；未选择时为全部</translation>
    </message>
    <message>
        <source>Accept poisoned chunks…</source>
        <translation>接受有毒的数据段…</translation>
    </message>
    <message>
        <source>They stay untrained and are named, and the epoch can end without them: those selected, otherwise all</source>
        <translation>它们保持未训练并被逐一列出，轮次可以不含它们而结束：所选的数据段；未选择时为全部</translation>
    </message>
    <message>
        <source>not possible now</source>
        <translation>现在不可用</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Audit the run</source>
        <translation>审计此运行</translation>
    </message>
    <message>
        <source>The proof: each chunk is in the weights once, and weights and blocks are as recorded, by their SHA-256</source>
        <translation>证明：每个数据段在权重中恰好一次，且权重和块按其 SHA-256 与记录一致</translation>
    </message>
    <message>
        <source>Audit the ledger alone</source>
        <translation>仅审计账本</translation>
    </message>
    <message>
        <source>The same proof in seconds; weights and blocks are not inspected</source>
        <translation>几秒内完成同样的证明；不检查权重和块</translation>
    </message>
    <message>
        <source>Leave selected chunks out of this run…</source>
        <translation>从本次运行中排除所选数据段…</translation>
    </message>
    <message>
        <source>Those that are not trained yet are not trained in this epoch, nor in later ones</source>
        <translation>尚未训练的数据段在本轮和以后各轮都不再训练</translation>
    </message>
    <message>
        <source>Collapse the lower docks</source>
        <translation>折叠下方面板</translation>
    </message>
    <message>
        <source>Only their tabs are left. A double click on a tab does the same, a click on it brings them back</source>
        <translation>只留下标签。双击标签效果相同，单击标签则恢复</translation>
    </message>
</context>
<context>
    <name>furrow::AlertList</name>
    <message numerus="yes">
        <source>%n more; J and K step through them</source>
        <translation>
            <numerusform>还有 %n 条；用 J 和 K 逐条查看</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::AlertsDialog</name>
    <message>
        <source>Show a notification of the desktop when this window is not in front</source>
        <translation>当此窗口不在最前时显示桌面通知</translation>
    </message>
    <message>
        <source>Alerts</source>
        <translation>警报</translation>
    </message>
    <message>
        <source>after</source>
        <translation>超过</translation>
    </message>
    <message>
        <source>below</source>
        <translation>低于</translation>
    </message>
    <message>
        <source>above</source>
        <translation>高于</translation>
    </message>
    <message>
        <source>Command to run for each alert</source>
        <translation>每次警报时运行的命令</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Run without a shell. FURROW_RUN, FURROW_ALERT and FURROW_TEXT are in its environment.</source>
        <translation>不经过 shell 运行。环境中有 FURROW_RUN、FURROW_ALERT 和 FURROW_TEXT。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Save alerts</source>
        <translation>保存警报</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>nats</source>
        <translation>奈特</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
</context>
<context>
    <name>furrow::Appearance</name>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Same as the system</source>
        <translation>跟随系统</translation>
    </message>
</context>
<context>
    <name>furrow::AuditDock</name>
    <message>
        <source>Check now</source>
        <translation>立即检查</translation>
    </message>
    <message>
        <source>Checking every chunk…</source>
        <translation>正在检查每个数据段…</translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation>还没有已知的数据段。</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>保存报告…</translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>Reports</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Check weights and files</source>
        <translation>检查权重和文件</translation>
    </message>
    <message>
        <source>Read the data again</source>
        <translation>重新读取数据</translation>
    </message>
    <message>
        <source>Prepares every block from the source once more and compares the samples by their fingerprints. This takes as long as preparing did.</source>
        <translation>从数据源重新准备每个块，并按指纹比较样本。耗时与最初准备相同。</translation>
    </message>
    <message>
        <source>Reads the newest weights and the prepared blocks and compares their SHA-256 with what was recorded.</source>
        <translation>读取最新权重和已准备的块，并将其 SHA-256 与所记比较。</translation>
    </message>
    <message>
        <source>Stopped. The weights were not inspected.</source>
        <translation>已停止。未检查权重。</translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation>停止检查</translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation>重复或缺漏的数据段</translation>
    </message>
    <message>
        <source>Show report</source>
        <translation>显示报告</translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing; weights and files are as recorded. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>没有数据段重复或缺漏；权重和文件与所记一致。%1 检查了 %Ln 个数据段。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>没有数据段重复或缺漏，但并非全部都能检查：见下文。%1 检查了 %Ln 个数据段。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>No chunk twice, none missing. %Ln chunk(s) checked at %1; weights not inspected.</source>
        <translation>
            <numerusform>没有数据段重复或缺漏。%1 检查了 %Ln 个数据段；未检查权重。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Problems found: see below. %Ln chunk(s) checked at %1.</source>
        <translation>
            <numerusform>有问题：见下文。%1 检查了 %Ln 个数据段。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Trained twice: %1. Missing: %2. %Ln chunk(s) checked at %3.</source>
        <translation>
            <numerusform>训练了两次：%1。缺漏：%2。%3 检查了 %Ln 个数据段。</numerusform>
        </translation>
    </message>
    <message>
        <source>No run is shown.</source>
        <translation>未显示任何运行。</translation>
    </message>
</context>
<context>
    <name>furrow::BoxRows</name>
    <message>
        <source>%1: median %2, from %3 to %4</source>
        <translation>%1：中位数 %2，从 %3 到 %4</translation>
    </message>
</context>
<context>
    <name>furrow::BrainDialog</name>
    <message>
        <source>nothing yet</source>
        <translation>尚无</translation>
    </message>
    <message>
        <source>epoch %1, complete</source>
        <translation>第 %1 轮，完整</translation>
    </message>
    <message>
        <source>epoch %1: %2 of %3 chunks</source>
        <translation>第 %1 轮：%2 / %3 个数据段</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>other data</source>
        <translation>其他数据</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) of the same data</source>
        <translation>
            <numerusform>相同数据的 %n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, then left out</source>
        <translation>%1，之后略去</translation>
    </message>
    <message>
        <source>%1, then trained again</source>
        <translation>%1，之后再次训练</translation>
    </message>
    <message>
        <source>%1 is no longer there</source>
        <translation>%1 已不存在</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元数</translation>
    </message>
    <message>
        <source>Had seen before</source>
        <translation>已见过</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Runs the weights came from</source>
        <translation>权重经历过的运行</translation>
    </message>
    <message>
        <source>Brain of %1</source>
        <translation>%1 的权重谱系</translation>
    </message>
    <message>
        <source>A brain is what remains when runs end: the weights, their tokenizer, and what they have seen. A new run from a checkpoint continues with it.</source>
        <translation>权重谱系（Brain）是运行结束后留下的东西：权重、分词器以及它们见过的数据。从检查点开始的新运行会继续使用它。</translation>
    </message>
    <message>
        <source>Open that run</source>
        <translation>打开该运行</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>This run has no weights of its own yet.</source>
        <translation>该运行还没有自己的权重。</translation>
    </message>
    <message>
        <source>Tokenizer: %1, %2 tokens</source>
        <translation>分词器：%1，%2 个词元</translation>
    </message>
    <message>
        <source>Weights: %1 (%2), loss %3 on held-out text</source>
        <translation>权重：%1（%2），在留出文本上的损失 %3</translation>
    </message>
    <message>
        <source>Weights: %1 (%2)</source>
        <translation>权重：%1（%2）</translation>
    </message>
</context>
<context>
    <name>furrow::ChangedSettings</name>
    <message>
        <source>No setting is changed.</source>
        <translation>没有更改任何设置。</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>从 %1 改为 %2</translation>
    </message>
    <message>
        <source>Safe</source>
        <translation>安全</translation>
    </message>
    <message>
        <source>Not safe: curves before and after cannot be compared</source>
        <translation>不安全：前后曲线无法比较</translation>
    </message>
</context>
<context>
    <name>furrow::ChartSettings</name>
    <message>
        <source>Display</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Smooth over</source>
        <translation>平滑宽度</translation>
    </message>
    <message>
        <source>2 % of all</source>
        <translation>全部的 2 %</translation>
    </message>
    <message>
        <source>Smoothing width in units of the horizontal axis, for example 20M. Empty: a fiftieth of the whole range</source>
        <translation>以横轴单位表示的平滑宽度，例如 20M；留空则为全部的五十分之一</translation>
    </message>
    <message>
        <source>Raw points</source>
        <translation>原始点</translation>
    </message>
    <message>
        <source>What was measured, behind the smoothed curves</source>
        <translation>测得的值，显示在平滑曲线之后</translation>
    </message>
    <message>
        <source>Mean of the workers</source>
        <translation>工作进程的均值</translation>
    </message>
    <message>
        <source>Weighted by their tokens</source>
        <translation>按各自的词元数加权</translation>
    </message>
    <message>
        <source>Logarithmic horizontal axis</source>
        <translation>横轴取对数</translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation>损失轴取对数</translation>
    </message>
    <message>
        <source>Perplexity at the right</source>
        <translation>右侧显示困惑度</translation>
    </message>
    <message>
        <source>e to the power of the loss</source>
        <translation>e 的损失次幂</translation>
    </message>
    <message>
        <source>Show every point</source>
        <translation>包含所有点</translation>
    </message>
    <message>
        <source>Otherwise the few most extreme points are clipped, with an arrow and their value</source>
        <translation>否则少数最远的点不在图内，以箭头和数值标出</translation>
    </message>
    <message>
        <source>Ranges</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>Loss from</source>
        <translation>损失从</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Loss to</source>
        <translation>损失到</translation>
    </message>
    <message>
        <source>x from</source>
        <translation>x 从</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>x to</source>
        <translation>x 到</translation>
    </message>
    <message>
        <source>Charts below</source>
        <translation>下方的图表</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
</context>
<context>
    <name>furrow::ChartsPage</name>
    <message>
        <source>Horizontal axis</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation>各工作进程的步数</translation>
    </message>
    <message>
        <source>Time of day</source>
        <translation>时刻</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation>x：%1</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>EMA</source>
        <translation>EMA</translation>
    </message>
    <message>
        <source>EMA, both ways</source>
        <translation>双向 EMA</translation>
    </message>
    <message>
        <source>Gaussian</source>
        <translation>高斯</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Smooth: %1</source>
        <translation>平滑：%1</translation>
    </message>
    <message>
        <source>Back to live</source>
        <translation>回到实时</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>训练损失</translation>
    </message>
    <message>
        <source>Visible range</source>
        <translation>可见范围</translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation>尚无记录的步。</translation>
    </message>
    <message>
        <source>No steps recorded yet. Worker %1: %2.</source>
        <translation>尚无记录的步。工作进程 %1：%2。</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>统计</translation>
    </message>
    <message>
        <source>Extremes and means of what is visible, for each worker</source>
        <translation>各工作进程可见部分的极值与均值</translation>
    </message>
    <message>
        <source>Display</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Smoothing width, scales, numeric ranges and which charts there are</source>
        <translation>平滑宽度、坐标、数值范围以及显示哪些图表</translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation>已训练词元，所有工作进程</translation>
    </message>
    <message>
        <source>Steps made, all workers</source>
        <translation>已执行步数，所有工作进程</translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation>已训练样本，所有工作进程</translation>
    </message>
    <message>
        <source>Epochs, by samples trained</source>
        <translation>轮次，按已训练样本计</translation>
    </message>
    <message>
        <source>Tokens, samples, epochs and steps of all workers count all that was trained: what was lost with its weights and trained again is in them twice.</source>
        <translation>所有工作进程的词元、样本、轮次和步数计入训练过的一切：随权重丢失后重新训练的部分会计两次。</translation>
    </message>
</context>
<context>
    <name>furrow::ChatColumn</name>
    <message>
        <source>Nothing has been said yet. Hold the pointer over a word of the model to see how likely it was.</source>
        <translation>还没有对话。将指针停在模型的词上，可以看到它的概率。</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>正在生成…</translation>
    </message>
    <message>
        <source>Loading the weights…</source>
        <translation>正在加载权重…</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>You</source>
        <translation>您</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1，第 %2 步</translation>
    </message>
    <message>
        <source>no chat format: the text is continued</source>
        <translation>没有对话格式：文本会被续写</translation>
    </message>
    <message>
        <source>From here on with newer weights: %1, step %2</source>
        <translation>从此处起使用更新的权重：%1，第 %2 步</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), %1 per second</source>
        <translation>
            <numerusform>%Ln 个词元，每秒 %1 个</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. Cut off before the model had ended.</source>
        <translation>%1。在模型写完之前被截断。</translation>
    </message>
    <message>
        <source>The tokenizer has nothing for: %1</source>
        <translation>分词器无法表示：%1</translation>
    </message>
    <message>
        <source>%1 What was said is forgotten; say something to begin again.</source>
        <translation>%1 之前的对话已被遗忘；说点什么即可重新开始。</translation>
    </message>
</context>
<context>
    <name>furrow::ChatPage</name>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Beside them</source>
        <translation>并排</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Tokens of an answer, at most</source>
        <translation>回答的词元数上限</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Talk</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Talk beside it</source>
        <translation>并排的对话</translation>
    </message>
    <message>
        <source>Say something. Enter sends it, Shift and Enter begins a new line.</source>
        <translation>说点什么。Enter 发送，Shift+Enter 换行。</translation>
    </message>
    <message>
        <source>What you say</source>
        <translation>您说的话</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>New talk</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>The model forgets what was said</source>
        <translation>模型会忘记之前的对话</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>furrow::ChatSession</name>
    <message>
        <source>%1 ended: %2.</source>
        <translation>%1 已结束：%2。</translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointChoices</name>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Before the stop</source>
        <translation>停止前</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Start weights</source>
        <translation>初始权重</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>已核验</translation>
    </message>
    <message>
        <source>%1, merge</source>
        <translation>%1，合并</translation>
    </message>
    <message>
        <source>%1, replica %2</source>
        <translation>%1，副本 %2</translation>
    </message>
    <message>
        <source>%1, best</source>
        <translation>%1，最佳</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>at the stop</source>
        <translation>停止时</translation>
    </message>
    <message>
        <source>The newest of each replica</source>
        <translation>每个副本最新的</translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message numerus="yes">
        <source>%Ln more checkpoint(s) damaged or not readable</source>
        <translation>
            <numerusform>另有 %Ln 个检查点已损坏或无法读取</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln checkpoint(s) left behind: the weights of the run did not grow from them</source>
        <translation>
            <numerusform>%Ln 个被放弃的检查点：运行的权重不是由它们得来的</numerusform>
        </translation>
    </message>
    <message>
        <source>Chunks trained again</source>
        <translation>重新训练的数据段</translation>
    </message>
    <message numerus="yes">
        <source>trains %Ln chunk(s) again</source>
        <translation>
            <numerusform>重新训练 %Ln 个数据段</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::CheckpointPicker</name>
    <message>
        <source>Checkpoints of the run</source>
        <translation>该运行的检查点</translation>
    </message>
    <message>
        <source>Start from a checkpoint</source>
        <translation>从检查点开始</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Start from this checkpoint</source>
        <translation>从此检查点开始</translation>
    </message>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation>此工作区还没有运行。</translation>
    </message>
    <message>
        <source>Reading the checkpoints…</source>
        <translation>正在读取检查点…</translation>
    </message>
    <message>
        <source>This run has no checkpoint yet.</source>
        <translation>此运行还没有检查点。</translation>
    </message>
    <message>
        <source>The new run takes the weights and the settings of the model; its optimiser, data and epochs start afresh.</source>
        <translation>新运行沿用权重和模型设置；优化器、数据和轮次从头开始。</translation>
    </message>
</context>
<context>
    <name>furrow::ChunkSamplesView</name>
    <message>
        <source>As trained</source>
        <translation>按训练时的样子</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>How samples are shown</source>
        <translation>样本的显示方式</translation>
    </message>
    <message>
        <source>Samples of the chunk</source>
        <translation>数据段的样本</translation>
    </message>
    <message>
        <source>Reading the samples…</source>
        <translation>正在读取样本…</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>还有 %n 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>held out</source>
        <translation>留出</translation>
    </message>
    <message>
        <source>occurs earlier in the block</source>
        <translation>块中此前已出现</translation>
    </message>
    <message>
        <source>occurs first in %1, row %2</source>
        <translation>首次出现在 %1 第 %2 行</translation>
    </message>
    <message>
        <source>not trained</source>
        <translation>不训练</translation>
    </message>
    <message>
        <source>Select a chunk to read its samples.</source>
        <translation>选择一个数据段以阅读其样本。</translation>
    </message>
    <message>
        <source>%1, row %2</source>
        <translation>%1，第 %2 行</translation>
    </message>
    <message>
        <source>on the quarantine list</source>
        <translation>已在隔离清单中</translation>
    </message>
    <message>
        <source>leave out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>Worst first</source>
        <translation>最差的在前</translation>
    </message>
    <message>
        <source>Best first</source>
        <translation>最好的在前</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>按存储顺序</translation>
    </message>
    <message>
        <source>Order of the samples</source>
        <translation>样本的顺序</translation>
    </message>
    <message>
        <source>Of each chunk the losses of the six worst and the two best samples are kept, as they were when they were trained.</source>
        <translation>每个数据段保留六个最差和两个最好样本在训练时的损失。</translation>
    </message>
    <message>
        <source>%1 filtered</source>
        <translation>%1 个被过滤</translation>
    </message>
    <message>
        <source>%1 held out</source>
        <translation>%1 个留出</translation>
    </message>
    <message>
        <source>%1 unreadable</source>
        <translation>%1 个无法读取</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>损失 %1</translation>
    </message>
    <message>
        <source>%1 for training</source>
        <translation>用于训练 %1</translation>
    </message>
    <message>
        <source>%1 rows: %2. %3 tokens of text.</source>
        <translation>%1 行：%2。文本 %3 个词元。</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>%1 left out as repeats</source>
        <translation>%1 个因重复而略去</translation>
    </message>
    <message>
        <source>%1, row %2 cannot be used: it %3</source>
        <translation>%1 第 %2 行无法使用：%3</translation>
    </message>
    <message>
        <source>%1 of them trained although their text occurs earlier in the block</source>
        <translation>其中 %1 个仍会训练，尽管其文本在块中已出现过</translation>
    </message>
    <message>
        <source>%1, row %2 (line %3) cannot be used: it %4</source>
        <translation>%1 第 %2 行（文件第 %3 行）无法使用：%4</translation>
    </message>
    <message>
        <source>%1 What is learnt stands between « and ».</source>
        <translation>%1 要学习的部分在 « 与 » 之间。</translation>
    </message>
    <message>
        <source>Prompt and rejected answer</source>
        <translation>提示与被拒绝的回答</translation>
    </message>
    <message>
        <source>Prompt and chosen answer</source>
        <translation>提示与选中的回答</translation>
    </message>
</context>
<context>
    <name>furrow::CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Command, run, setting or chunk (B3 C17)</source>
        <translation>命令、运行、设置或数据段（B3 C17）</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>找到的内容</translation>
    </message>
    <message>
        <source>Nothing matches.</source>
        <translation>没有匹配项。</translation>
    </message>
    <message>
        <source>Show it in the map and in the inspector</source>
        <translation>在图和检查器中显示</translation>
    </message>
    <message>
        <source>the map that is shown has no such chunk</source>
        <translation>所显示的图中没有该数据段</translation>
    </message>
    <message>
        <source>Library: %1</source>
        <translation>库：%1</translation>
    </message>
    <message>
        <source>New run: %1</source>
        <translation>新建运行：%1</translation>
    </message>
</context>
<context>
    <name>furrow::ComparePage</name>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>By chunk</source>
        <translation>按数据段</translation>
    </message>
    <message>
        <source>Settings that differ</source>
        <translation>不同的设置</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>Compare runs</source>
        <translation>比较运行</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>筛选运行</translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation>固定为基准</translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation>返回运行</translation>
    </message>
    <message>
        <source>Runs with figures and settings</source>
        <translation>各运行的数值和设置</translation>
    </message>
    <message>
        <source>Horizontal axis</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>Steps of each worker</source>
        <translation>各工作进程的步数</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>x: %1</source>
        <translation>x：%1</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>训练损失</translation>
    </message>
    <message>
        <source>Run compared with the baseline</source>
        <translation>与基准比较的运行</translation>
    </message>
    <message>
        <source>Difference of the loss of each chunk</source>
        <translation>每个数据段的损失差</translation>
    </message>
    <message>
        <source>Select two to eight runs (Ctrl and click, or Ctrl and Space); the first one is the baseline.</source>
        <translation>选择二至八个运行（Ctrl 加单击，或 Ctrl 加空格）；第一个为基准。</translation>
    </message>
    <message numerus="yes">
        <source>Reading %n run(s)…</source>
        <translation>
            <numerusform>正在读取 %n 个运行…</numerusform>
        </translation>
    </message>
    <message>
        <source>Baseline: %1</source>
        <translation>基准：%1</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Attempts</source>
        <translation>尝试次数</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>All settings are the same.</source>
        <translation>所有设置都相同。</translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk: %1.</source>
        <translation>无法逐数据段比较：%1。</translation>
    </message>
    <message>
        <source>Speed of single steps</source>
        <translation>单步速度</translation>
    </message>
    <message>
        <source>Speed of single steps of one worker each, in tokens per second: smallest, quartiles, largest</source>
        <translation>单个工作进程每一步的速度（每秒词元数）：最小值、四分位数、最大值</translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n worker(s)</source>
        <translation>
            <numerusform>%1，%n 个工作进程的平均</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %Ln chunk(s)</source>
        <translation>
            <numerusform>%1，%Ln 个数据段的平均</numerusform>
        </translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation>损失（最近一步）</translation>
    </message>
    <message>
        <source>Loss of the first epoch</source>
        <translation>第一轮的损失</translation>
    </message>
    <message numerus="yes">
        <source>%n runs are selected; at most eight can be compared.</source>
        <translation>
            <numerusform>已选择 %n 个运行；最多可比较八个。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1. As of %2</source>
        <translation>%1。截至 %2</translation>
    </message>
    <message>
        <source>%1 of %2 alive</source>
        <translation>%2 个中有 %1 个存活</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Not comparable chunk by chunk.</source>
        <translation>无法逐数据段比较。</translation>
    </message>
    <message>
        <source>No chunk of the first epoch was trained by both yet.</source>
        <translation>第一轮还没有两者都训练过的数据段。</translation>
    </message>
    <message>
        <source>%1 chunks of the first epoch in common, mean difference %2 nats, %3 better than the baseline.</source>
        <translation>第一轮共有 %1 个相同数据段，平均差 %2 奈特，%3 个优于基准。</translation>
    </message>
    <message>
        <source>Tokens trained, all workers</source>
        <translation>已训练词元，所有工作进程</translation>
    </message>
    <message>
        <source>Samples trained, all workers</source>
        <translation>已训练样本，所有工作进程</translation>
    </message>
    <message>
        <source>Kept tokens per active second</source>
        <translation>每秒活动时间保留的词元数</translation>
    </message>
    <message>
        <source>1 chunk of the first epoch in common, difference %1 nats.</source>
        <translation>第一轮共有 1 个相同数据段，差 %1 奈特。</translation>
    </message>
    <message>
        <source>units differ: %1</source>
        <translation>单位不同：%1</translation>
    </message>
</context>
<context>
    <name>furrow::ConfigPage</name>
    <message>
        <source>Find a setting</source>
        <translation>查找设置</translation>
    </message>
    <message>
        <source>Different from the preset</source>
        <translation>与预设不同</translation>
    </message>
    <message>
        <source>New run from this…</source>
        <translation>以此新建运行…</translation>
    </message>
    <message>
        <source>Configuration</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Preset %1, made %2 by Furrow %3, data %4</source>
        <translation>预设 %1，%2 由 Furrow %3 创建，数据 %4</translation>
    </message>
    <message>
        <source>Data %1
Tokenizer %2
Vocabulary %3</source>
        <translation>数据 %1
分词器 %2
词表 %3</translation>
    </message>
</context>
<context>
    <name>furrow::CoverageMap</name>
    <message>
        <source>No block is prepared yet.</source>
        <translation>还没有准备好的块。</translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation>覆盖图</translation>
    </message>
    <message>
        <source>%1 of %2 chunks committed, %3 lost, %4 poisoned</source>
        <translation>%2 个数据段中已提交 %1，丢失 %3，有毒 %4</translation>
    </message>
    <message>
        <source>B%1 C%2</source>
        <translation>B%1 C%2</translation>
    </message>
    <message>
        <source>mean loss %1</source>
        <translation>平均损失 %1</translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>block</source>
        <translation>块</translation>
    </message>
    <message numerus="yes">
        <source>%n blocks</source>
        <translation>
            <numerusform>%n 个块</numerusform>
        </translation>
    </message>
    <message>
        <source>trained by the parent run</source>
        <translation>父运行已训练</translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), parts and lost ones included</source>
        <translation>
            <numerusform>%n 次训练（含分段和丢失的）</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 samples in checkpoints</source>
        <translation>%2 个样本中有 %1 个在检查点中</translation>
    </message>
    <message>
        <source>left out, none of its steps was finite</source>
        <translation>被略去：它的训练步都不是有限值</translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite: %1</source>
        <translation>略去的样本（其训练步不是有限值）：%1</translation>
    </message>
</context>
<context>
    <name>furrow::CoveragePage</name>
    <message>
        <source>Layer</source>
        <translation>图层</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>距今时间</translation>
    </message>
    <message>
        <source>Layer: %1</source>
        <translation>图层：%1</translation>
    </message>
    <message>
        <source>Relative to</source>
        <translation>相对于</translation>
    </message>
    <message>
        <source>Relative to: nothing</source>
        <translation>相对于：无</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Coverage map</source>
        <translation>覆盖图</translation>
    </message>
    <message>
        <source>No block is prepared yet.</source>
        <translation>还没有准备好的块。</translation>
    </message>
    <message>
        <source>Chunks of the epoch</source>
        <translation>本轮的数据段</translation>
    </message>
    <message>
        <source>Share of the worst chunks</source>
        <translation>最差数据段的比例</translation>
    </message>
    <message>
        <source>Select the chunks with the largest values of this layer</source>
        <translation>选择此图层中数值最大的数据段</translation>
    </message>
    <message>
        <source>There is no epoch before this one.</source>
        <translation>之前没有轮次。</translation>
    </message>
    <message>
        <source>Change of loss</source>
        <translation>损失变化</translation>
    </message>
    <message>
        <source>Relative to: trend</source>
        <translation>相对于：趋势</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation>父运行</translation>
    </message>
    <message>
        <source>Fit: show the whole field</source>
        <translation>适应窗口：显示整个区域</translation>
    </message>
    <message>
        <source>Order of the rows</source>
        <translation>行的顺序</translation>
    </message>
    <message>
        <source>block number</source>
        <translation>块号</translation>
    </message>
    <message>
        <source>first trained</source>
        <translation>最先训练</translation>
    </message>
    <message>
        <source>highest loss</source>
        <translation>损失最高</translation>
    </message>
    <message>
        <source>Rows: %1</source>
        <translation>行：%1</translation>
    </message>
    <message>
        <source>Worst</source>
        <translation>最差</translation>
    </message>
    <message>
        <source>Select</source>
        <translation>选择</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, blocks %2 to %3, columns %4 to %5</source>
        <translation>%1，块 %2 至 %3，列 %4 至 %5</translation>
    </message>
    <message>
        <source>%1, open</source>
        <translation>%1，未完成</translation>
    </message>
    <message>
        <source>Trainings</source>
        <translation>训练次数</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
</context>
<context>
    <name>furrow::DataPage</name>
    <message>
        <source>Blocks</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Chunks of the block</source>
        <translation>块中的数据段</translation>
    </message>
    <message>
        <source>Blocks and chunks of %1</source>
        <translation>%1的块和数据段</translation>
    </message>
    <message>
        <source>; open too: %1 (the page Coverage shows another one)</source>
        <translation>；同样未完成：%1（可在“覆盖”页选择其他轮）</translation>
    </message>
</context>
<context>
    <name>furrow::DataPreview</name>
    <message>
        <source>Looking at the data…</source>
        <translation>正在查看数据…</translation>
    </message>
    <message>
        <source>Probed in %1</source>
        <translation>探测用时 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n 个块</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 samples</source>
        <translation>%1 个样本</translation>
    </message>
    <message>
        <source>about %1 samples</source>
        <translation>约 %1 个样本</translation>
    </message>
    <message>
        <source>about %1 tokens</source>
        <translation>约 %1 个词元</translation>
    </message>
    <message>
        <source>text in %1</source>
        <translation>文本在 %1</translation>
    </message>
    <message>
        <source>%1 samples per block: %2</source>
        <translation>每块 %1 个样本：%2</translation>
    </message>
    <message numerus="yes">
        <source>first %n sample(s)</source>
        <translation>
            <numerusform>前 %n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>Text column</source>
        <translation>文本列</translation>
    </message>
    <message>
        <source>Several columns hold text: choose the one that is trained</source>
        <translation>有多列含文本：请选择要训练的一列</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>还有 %n 条</numerusform>
        </translation>
    </message>
    <message>
        <source>at least %1 chunks</source>
        <translation>至少 %1 个数据段</translation>
    </message>
    <message>
        <source>%1 % of the tokens are learnt, « » around them</source>
        <translation>学习 %1 % 的词元，用 « » 标出</translation>
    </message>
    <message>
        <source>about %1 tokens to train, %2 held out</source>
        <translation>约 %1 个词元用于训练，%2 个留出</translation>
    </message>
    <message>
        <source>at least 1 chunk</source>
        <translation>至少 1 个数据段</translation>
    </message>
</context>
<context>
    <name>furrow::DevicePicker</name>
    <message>
        <source>%1 of %2 free</source>
        <translation>%2 中空闲 %1</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>%1 % busy</source>
        <translation>占用 %1 %</translation>
    </message>
    <message>
        <source>%1 in all</source>
        <translation>共 %1</translation>
    </message>
    <message numerus="yes">
        <source>CPU, %n core(s)</source>
        <translation>
            <numerusform>CPU，%n 核</numerusform>
        </translation>
    </message>
    <message>
        <source>no GPU was found</source>
        <translation>未找到 GPU</translation>
    </message>
</context>
<context>
    <name>furrow::EpochHead</name>
    <message>
        <source>Epoch ends about %1</source>
        <translation>本轮约于 %1 结束</translation>
    </message>
    <message>
        <source>Epoch ends about %1, likely between %2 and %3</source>
        <translation>本轮约于 %1 结束，可能在 %2 至 %3</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>为什么？</translation>
    </message>
    <message>
        <source>Reading the run…</source>
        <translation>正在读取运行…</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>Ended because %1. %2</source>
        <translation>已结束，因为%1。%2</translation>
    </message>
    <message>
        <source>Both epochs end about %1</source>
        <translation>两轮约于 %1 结束</translation>
    </message>
    <message>
        <source>Both epochs end about %1, likely between %2 and %3</source>
        <translation>两轮约于 %1 结束，可能在 %2 至 %3</translation>
    </message>
    <message>
        <source>Nothing is known of this run</source>
        <translation>对该运行一无所知</translation>
    </message>
    <message>
        <source>All epochs end about %1</source>
        <translation>所有轮次约于 %1 结束</translation>
    </message>
    <message>
        <source>All epochs end about %1, likely between %2 and %3</source>
        <translation>所有轮次约于 %1 结束，可能在 %2 至 %3</translation>
    </message>
</context>
<context>
    <name>furrow::EpochMeters</name>
    <message>
        <source>Blocks visited</source>
        <translation>已访问的块</translation>
    </message>
    <message>
        <source>Chunks committed</source>
        <translation>已提交的数据段</translation>
    </message>
    <message>
        <source>Samples committed</source>
        <translation>已提交的样本</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>优化步数</translation>
    </message>
    <message>
        <source>committed %1</source>
        <translation>已提交 %1</translation>
    </message>
    <message>
        <source>trained, not in a checkpoint yet %1</source>
        <translation>已训练、尚未进检查点 %1</translation>
    </message>
    <message>
        <source>leased %1</source>
        <translation>已领取 %1</translation>
    </message>
    <message>
        <source>free %1</source>
        <translation>空闲 %1</translation>
    </message>
    <message>
        <source>not prepared %1</source>
        <translation>未准备 %1</translation>
    </message>
    <message>
        <source>excluded %1</source>
        <translation>已排除 %1</translation>
    </message>
    <message>
        <source>poisoned, accepted %1</source>
        <translation>有毒、已接受 %1</translation>
    </message>
    <message>
        <source>poisoned %1, accept or retry before the epoch can end</source>
        <translation>有毒 %1，接受或重试后本轮才能结束</translation>
    </message>
    <message>
        <source>rows unreadable %1</source>
        <translation>不可读的行 %1</translation>
    </message>
    <message>
        <source>rows filtered %1</source>
        <translation>过滤的行 %1</translation>
    </message>
    <message>
        <source>work lost %1</source>
        <translation>工作丢失 %1</translation>
    </message>
    <message>
        <source>claimed by workers that are gone %1</source>
        <translation>由已退出的工作进程领取 %1</translation>
    </message>
    <message>
        <source>samples left out as repeats %1</source>
        <translation>因重复而略去的样本 %1</translation>
    </message>
    <message>
        <source>partly trained %1</source>
        <translation>部分已训练 %1</translation>
    </message>
    <message>
        <source>%1 in %2 epochs</source>
        <translation>%1（%2 轮）</translation>
    </message>
    <message>
        <source>rows filtered or left out with their file %1</source>
        <translation>被过滤或随其文件一起排除的行 %1</translation>
    </message>
    <message>
        <source>poisoned %1</source>
        <translation>有毒 %1</translation>
    </message>
    <message>
        <source>samples left out, their steps were not finite %1</source>
        <translation>略去的样本（其训练步不是有限值）%1</translation>
    </message>
    <message>
        <source>of these left out, their steps were not finite %1</source>
        <translation>其中被略去（其训练步不是有限值）%1</translation>
    </message>
    <message>
        <source>of these %1</source>
        <translation>其中 %1</translation>
    </message>
    <message>
        <source>trained by the parent run %1</source>
        <translation>父运行已训练 %1</translation>
    </message>
    <message>
        <source>of those left out, trained in part before %1</source>
        <translation>排除的之中，此前已训练一部分 %1</translation>
    </message>
    <message>
        <source>of these kept in part %1</source>
        <translation>其中保留一部分 %1</translation>
    </message>
</context>
<context>
    <name>furrow::EpochTable</name>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation>待重做</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>丢失的工作</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Released</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>部分已训练</translation>
    </message>
    <message>
        <source>%1: kept %2, to be redone %3, work lost %4, released %5, partly trained %6, free %7</source>
        <translation>%1：保留 %2，需重做 %3，工作丢失 %4，已释放 %5，部分已训练 %6，空闲 %7</translation>
    </message>
</context>
<context>
    <name>furrow::EstimatePanel</name>
    <message>
        <source>Estimate</source>
        <translation>估计</translation>
    </message>
    <message>
        <source>Chunks in an epoch</source>
        <translation>每轮数据段数</translation>
    </message>
    <message>
        <source>Time to one epoch</source>
        <translation>一轮所需时间</translation>
    </message>
    <message>
        <source>Disk, free</source>
        <translation>磁盘空闲</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Command that creates this run</source>
        <translation>创建此运行的命令</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Save preset…</source>
        <translation>保存预设…</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) must be corrected before launch</source>
        <translation>
            <numerusform>启动前须更正 %n 项设置</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose the data first</source>
        <translation>请先选择数据</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>尚不知道</translation>
    </message>
    <message numerus="yes">
        <source>in %n block(s)</source>
        <translation>
            <numerusform>在 %n 个块中</numerusform>
        </translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>约 %1</translation>
    </message>
    <message>
        <source>The number of tokens is not known before the data is prepared.</source>
        <translation>数据准备好之前不知道词元数。</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Downloads and prepared blocks take at most %1.</source>
        <translation>下载和准备好的块最多占 %1。</translation>
    </message>
    <message>
        <source>As in the preset %1</source>
        <translation>与预设 %1 相同</translation>
    </message>
    <message>
        <source>Changes to the preset %1</source>
        <translation>相对预设 %1 的更改</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Create the run and start it when its devices are free</source>
        <translation>创建运行，设备空闲时开始</translation>
    </message>
    <message>
        <source>No run that trains in this way has been measured here.</source>
        <translation>此处没有测量过以这种方式训练的运行。</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Set every setting back to the value of the preset; the data and the name stay</source>
        <translation>所有设置恢复为预设值；数据和名称保留</translation>
    </message>
    <message>
        <source>%1: set back to the value of the preset</source>
        <translation>%1：恢复为预设值</translation>
    </message>
    <message>
        <source>Install libtorch…</source>
        <translation>安装 libtorch…</translation>
    </message>
    <message>
        <source>Known once the data has been looked at.</source>
        <translation>查看数据后即可知道。</translation>
    </message>
    <message>
        <source>Known once the settings of the data are right.</source>
        <translation>数据设置正确后即可知道。</translation>
    </message>
    <message>
        <source>Counted when the run is made: the data has several sources, or its samples are only estimated.</source>
        <translation>创建运行时统计：数据有多个来源，或样本数只是估计值。</translation>
    </message>
    <message>
        <source>Show this setting</source>
        <translation>显示此设置</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation>更正后才能知道。</translation>
    </message>
    <message>
        <source>%1, measured on %2, its evaluations included</source>
        <translation>%1，在 %2 上测得，包括其评估</translation>
    </message>
    <message>
        <source>%1, estimated from %2 by operations per token and cores or GPUs, its evaluations included</source>
        <translation>%1，由 %2 按每词元运算量和核心数或 GPU 数估算，包括其评估</translation>
    </message>
</context>
<context>
    <name>furrow::EventsDock</name>
    <message>
        <source>Events and alerts</source>
        <translation>事件与警报</translation>
    </message>
    <message>
        <source>Include every change of a chunk</source>
        <translation>也包括数据段的每次变动</translation>
    </message>
</context>
<context>
    <name>furrow::ExportDialog</name>
    <message>
        <source>Export run</source>
        <translation>导出运行</translation>
    </message>
    <message>
        <source>Report of the run: state, figures, curves, settings and audit on one HTML page</source>
        <translation>运行报告：状态、数字、曲线、设置和审计，一个 HTML 页面</translation>
    </message>
    <message>
        <source>Measurements, as CSV tables</source>
        <translation>测量数据，CSV 表格</translation>
    </message>
    <message>
        <source>Measurements, as JSON lines</source>
        <translation>测量数据，JSON 行</translation>
    </message>
    <message>
        <source>Measurements, for TensorBoard</source>
        <translation>测量数据，用于 TensorBoard</translation>
    </message>
    <message>
        <source>The model, for Hugging Face</source>
        <translation>模型，用于 Hugging Face</translation>
    </message>
    <message>
        <source>Bundle for developers: logs, settings and audit, without data, weights, secrets or folder names</source>
        <translation>供开发者的打包文件：日志、设置和审计，不含数据、权重、机密和文件夹</translation>
    </message>
    <message>
        <source>Where to write it</source>
        <translation>写到哪里</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation>已保存为 %1。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>A folder is created there.</source>
        <translation>将在那里新建一个文件夹。</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>正在处理…</translation>
    </message>
    <message>
        <source>The run has no checkpoint yet: the model has its start weights.</source>
        <translation>此运行还没有检查点：模型使用其初始权重。</translation>
    </message>
    <message>
        <source>The weights: %1.</source>
        <translation>权重：%1。</translation>
    </message>
    <message>
        <source>%1 &quot;Merge replicas&quot; in the Run menu makes one model of them all.</source>
        <translation>%1 菜单“运行”中的“合并副本”可将所有副本合成一个模型。</translation>
    </message>
    <message>
        <source>The model, for llama.cpp (GGUF, 16 bits; furrowctl export has more types)</source>
        <translation>模型，用于 llama.cpp（GGUF，16 位；furrowctl export 提供更多类型）</translation>
    </message>
    <message>
        <source>llama.cpp has no form for the tokenizer of this run. The model can be exported for Hugging Face.</source>
        <translation>llama.cpp 没有适合此运行的分词器的格式。可以导出为 Hugging Face 格式的模型。</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>%1 could not be written: the folder %2 is not there.</source>
        <translation>无法写入 %1：文件夹 %2 不存在。</translation>
    </message>
</context>
<context>
    <name>furrow::FormField</name>
    <message>
        <source>%1 is empty: a file, a folder or an address (hf://, https://, s3://, gs://) is needed.</source>
        <translation>%1 为空：需要文件、文件夹或地址（hf://、https://、s3://、gs://）。</translation>
    </message>
    <message>
        <source>%1
It comes from the model that the run starts from.</source>
        <translation>%1
它取自此运行的起点模型。</translation>
    </message>
    <message>
        <source>Separate several with commas. Put a name with a comma in it in double quotes: &quot;Goethe, Faust.txt&quot;, b.txt</source>
        <translation>多个值用逗号分隔。含逗号的名称放在双引号中：&quot;Goethe, Faust.txt&quot;, b.txt</translation>
    </message>
</context>
<context>
    <name>furrow::FormGroup</name>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation>
            <numerusform>%n 项设置</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::GpuDock</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Utilisation</source>
        <translation>使用率</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功率</translation>
    </message>
    <message>
        <source>W</source>
        <translation>W</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>°C</source>
        <translation>°C</translation>
    </message>
    <message>
        <source>This run trains on the CPU; no GPU is measured.</source>
        <translation>此运行在 CPU 上训练；没有测量 GPU。</translation>
    </message>
    <message>
        <source>No measurement of a GPU was recorded. It needs the NVIDIA driver (NVML) on the machine that trains.</source>
        <translation>没有记录到 GPU 测量。训练的机器上需要 NVIDIA 驱动（NVML）。</translation>
    </message>
</context>
<context>
    <name>furrow::HelpDialog</name>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Search the help</source>
        <translation>搜索帮助</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>没有相关内容。</translation>
    </message>
</context>
<context>
    <name>furrow::HubModelDialog</name>
    <message>
        <source>No model has been downloaded to this computer yet.</source>
        <translation>尚未向这台计算机下载过模型。</translation>
    </message>
    <message>
        <source>Start from a model on the hub</source>
        <translation>从 Hub 上的模型开始</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Name a model on the Hugging Face hub: hf://owner/name, or hf://owner/name/FILE.gguf. It is downloaded once; shape, context, tokenizer and chat template come with it. A gated model needs HF_TOKEN in the environment.</source>
        <translation>请指定 Hugging Face Hub 上的模型：hf://owner/name 或 hf://owner/name/FILE.gguf。只下载一次；形状、上下文、分词器和对话模板随之而来。需要授权的模型要求环境中有 HF_TOKEN。</translation>
    </message>
    <message>
        <source>Model on the hub</source>
        <translation>Hub 上的模型</translation>
    </message>
    <message>
        <source>Download and use</source>
        <translation>下载并使用</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>在这台计算机上</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>这台计算机上的模型</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Use the selected one</source>
        <translation>使用所选模型</translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation>正在查询 Hub…</translation>
    </message>
</context>
<context>
    <name>furrow::InspectorDock</name>
    <message>
        <source>Trainings of this chunk</source>
        <translation>该数据段的训练</translation>
    </message>
    <message>
        <source>Selected chunks</source>
        <translation>所选数据段</translation>
    </message>
    <message>
        <source>Show in map</source>
        <translation>在图中显示</translation>
    </message>
    <message>
        <source>Select a run, worker or chunk.</source>
        <translation>请选择运行、工作进程或数据段。</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>not in the epoch shown</source>
        <translation>不属于所示轮次</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>%1, claim %2</source>
        <translation>%1，领取 %2</translation>
    </message>
    <message>
        <source>Trained</source>
        <translation>已训练</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Mean loss</source>
        <translation>平均损失</translation>
    </message>
    <message>
        <source>Gradient norm, peak</source>
        <translation>梯度范数峰值</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) selected</source>
        <translation>
            <numerusform>已选 %n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>not alive</source>
        <translation>未存活</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Replica</source>
        <translation>副本</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Its end</source>
        <translation>结束原因</translation>
    </message>
    <message>
        <source>Restarts</source>
        <translation>重启次数</translation>
    </message>
    <message>
        <source>Chunk</source>
        <translation>数据段</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Last progress</source>
        <translation>最近进展</translation>
    </message>
    <message>
        <source>Ended because</source>
        <translation>结束原因</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>创建</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation>最新检查点</translation>
    </message>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>词表</translation>
    </message>
    <message>
        <source>Samples per block</source>
        <translation>每块样本数</translation>
    </message>
    <message>
        <source>Show in chart</source>
        <translation>在图表中显示</translation>
    </message>
    <message>
        <source>Show in log</source>
        <translation>在日志中显示</translation>
    </message>
    <message>
        <source>Loss inside the chunk</source>
        <translation>数据段内损失</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>spike</source>
        <translation>尖峰</translation>
    </message>
    <message numerus="yes">
        <source>Quarantine %n chunk(s)…</source>
        <translation>
            <numerusform>隔离 %n 个数据段…</numerusform>
        </translation>
    </message>
    <message>
        <source>Parent run</source>
        <translation>父运行</translation>
    </message>
    <message>
        <source>trained it; left out here</source>
        <translation>已训练；此处略去</translation>
    </message>
    <message>
        <source>trained it; trained again here</source>
        <translation>已训练；此处再次训练</translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1.</source>
        <translation>这是当前的状态，不是 %1 时的状态。</translation>
    </message>
    <message>
        <source>Changed by attempt %1</source>
        <translation>第 %1 次尝试的更改</translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>结束</translation>
    </message>
    <message>
        <source>no end was recorded</source>
        <translation>没有记录结束</translation>
    </message>
    <message>
        <source>Supervisor</source>
        <translation>监督进程</translation>
    </message>
    <message>
        <source>process %1</source>
        <translation>进程 %1</translation>
    </message>
    <message>
        <source>Detail</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>none changed</source>
        <translation>没有更改</translation>
    </message>
    <message>
        <source>Memory, peak</source>
        <translation>内存峰值</translation>
    </message>
    <message>
        <source>%1, %2 times the estimate</source>
        <translation>%1，为估计的 %2 倍</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Accept as not trained…</source>
        <translation>接受为未训练…</translation>
    </message>
    <message>
        <source>In weights</source>
        <translation>在权重中</translation>
    </message>
    <message>
        <source>once, in %1 parts</source>
        <translation>一次，分 %1 部分</translation>
    </message>
    <message>
        <source>once</source>
        <translation>一次</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>尚未</translation>
    </message>
    <message>
        <source>An interrupted chunk is continued from where it was: each part is in the weights once.</source>
        <translation>被中断的数据段从中断处继续训练：每一部分在权重中只有一次。</translation>
    </message>
    <message>
        <source>Tokens learnt from</source>
        <translation>学习的词元</translation>
    </message>
    <message>
        <source>Tokens with nothing before them are read and not predicted, so there are fewer of these than the text has.</source>
        <translation>前面没有内容的词元只读取、不预测：因此少于文本的词元数。</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>丢失的工作</translation>
    </message>
    <message numerus="yes">
        <source>%n training(s), with their weights</source>
        <translation>
            <numerusform>%n 次训练，连同其权重</numerusform>
        </translation>
    </message>
    <message>
        <source>Newest process</source>
        <translation>最新进程</translation>
    </message>
    <message>
        <source>attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>Earlier ones of this worker are on the Workers page.</source>
        <translation>该工作进程较早的进程列在“工作进程”页。</translation>
    </message>
    <message>
        <source>As last read, at %1: the folder of the run cannot be read now.</source>
        <translation>为上次于 %1 读取时的情况：现在无法读取该运行的文件夹。</translation>
    </message>
    <message>
        <source>not in a checkpoint yet</source>
        <translation>尚未进入检查点</translation>
    </message>
    <message>
        <source>%1 of %2 parts, the others in no checkpoint yet</source>
        <translation>%2 个部分中的 %1 个，其余尚未进入检查点</translation>
    </message>
    <message>
        <source>%1 of %2 samples</source>
        <translation>%2 个样本中的 %1 个</translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is trained when it is claimed again.</source>
        <translation>%2 个窗口中的 %1 个；其余在再次被领取时训练。</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>曾为 %1</translation>
    </message>
    <message>
        <source>Right answers</source>
        <translation>正确回答</translation>
    </message>
    <message>
        <source>%1; not in the epoch shown</source>
        <translation>%1；不属于所示轮次</translation>
    </message>
    <message>
        <source>%1, median of %2 %3</source>
        <translation>%1，%2的中位数 %3</translation>
    </message>
    <message>
        <source>Quarantine leaves chunks out of later runs; this run keeps and trains them. Chunks that are not trained yet can be left out of this run too (menu Data).</source>
        <translation>隔离会把数据段排除在以后的运行之外；本次运行仍保留并训练它们。尚未训练的数据段也可以从本次运行中排除（“数据”菜单）。</translation>
    </message>
    <message>
        <source>no: it is left out</source>
        <translation>否：已排除</translation>
    </message>
    <message>
        <source>no: it is left out, none of its steps was finite</source>
        <translation>否：被略去，它的训练步都不是有限值</translation>
    </message>
    <message>
        <source>Left out</source>
        <translation>略去</translation>
    </message>
    <message>
        <source>%1 of %2 samples, their steps were not finite</source>
        <translation>%2 个样本中的 %1 个，其训练步不是有限值</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>%1 of %2 windows; the rest is left out.</source>
        <translation>%2 个窗口中的 %1 个；其余被排除。</translation>
    </message>
    <message>
        <source>from the parent run</source>
        <translation>来自父运行</translation>
    </message>
    <message>
        <source>Newest attempt</source>
        <translation>最新的尝试</translation>
    </message>
    <message>
        <source>%1, without a part that was cut off</source>
        <translation>%1，不含被中断的一部分</translation>
    </message>
    <message>
        <source>%1, in %2 parts</source>
        <translation>%1，分 %2 部分</translation>
    </message>
    <message>
        <source>no: there is nothing to train in it</source>
        <translation>否：其中没有可训练的内容</translation>
    </message>
</context>
<context>
    <name>furrow::LaneLegend</name>
    <message>
        <source>wait</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>commit</source>
        <translation>提交</translation>
    </message>
    <message>
        <source>work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>no process</source>
        <translation>无进程</translation>
    </message>
</context>
<context>
    <name>furrow::LaneView</name>
    <message>
        <source>Worker lanes</source>
        <translation>工作进程时间线</translation>
    </message>
    <message numerus="yes">
        <source>%n lanes</source>
        <translation>
            <numerusform>%n 条时间线</numerusform>
        </translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>%1, worker %2, from %3</source>
        <translation>%1，工作进程 %2，自 %3</translation>
    </message>
</context>
<context>
    <name>furrow::LanesDock</name>
    <message>
        <source>No chunk was claimed yet.</source>
        <translation>还没有领取任何数据段。</translation>
    </message>
    <message>
        <source>Time range</source>
        <translation>时间段</translation>
    </message>
    <message numerus="yes">
        <source>Last %n minute(s)</source>
        <translation>
            <numerusform>最近 %n 分钟</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Last %n hour(s)</source>
        <translation>
            <numerusform>最近 %n 小时</numerusform>
        </translation>
    </message>
    <message>
        <source>Worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>曾为 %1</translation>
    </message>
</context>
<context>
    <name>furrow::LibraryDock</name>
    <message>
        <source>No runs in this workspace yet.</source>
        <translation>此工作区还没有运行。</translation>
    </message>
    <message>
        <source>No run matches.</source>
        <translation>没有匹配的运行。</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>筛选运行</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Clear filter</source>
        <translation>清除筛选</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n 个运行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n run(s)</source>
        <translation>
            <numerusform>%n 个运行中的 %1 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Include archived</source>
        <translation>包括已归档</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>开始演示运行</translation>
    </message>
    <message>
        <source>Words of name, note, group, preset or state; #word finds a tag</source>
        <translation>名称、备注、分组、预设或状态中的词；#词 查找标签</translation>
    </message>
    <message>
        <source>Include archived (%1)</source>
        <translation>包括已归档（%1）</translation>
    </message>
    <message>
        <source>Add tag…</source>
        <translation>添加标签…</translation>
    </message>
</context>
<context>
    <name>furrow::LogPage</name>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Filter the log</source>
        <translation>筛选日志</translation>
    </message>
    <message>
        <source>Minimum level</source>
        <translation>最低级别</translation>
    </message>
    <message>
        <source>All levels</source>
        <translation>所有级别</translation>
    </message>
    <message>
        <source>Info and above</source>
        <translation>信息及以上</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>警告和错误</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>All processes</source>
        <translation>所有进程</translation>
    </message>
    <message>
        <source>The selected line as it was written</source>
        <translation>所选行的原始内容</translation>
    </message>
    <message>
        <source>Select a line.</source>
        <translation>请选择一行。</translation>
    </message>
    <message>
        <source>Line as written</source>
        <translation>原始行</translation>
    </message>
    <message>
        <source>Show the selected line below the table, in full, as its process wrote it</source>
        <translation>在表格下方完整显示所选的行，与其进程写出的一致</translation>
    </message>
</context>
<context>
    <name>furrow::MainWindow</name>
    <message>
        <source>Perspective</source>
        <translation>视角</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>观察</translation>
    </message>
    <message>
        <source>Inspect data</source>
        <translation>检查数据</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>库</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Worker lanes</source>
        <translation>工作进程时间线</translation>
    </message>
    <message>
        <source>Events and alerts</source>
        <translation>事件与警报</translation>
    </message>
    <message>
        <source>Events and alerts %1</source>
        <translation>事件与警报 %1</translation>
    </message>
    <message>
        <source>%1 events/s   Lag %2 ms</source>
        <translation>%1 事件/秒   延迟 %2 毫秒</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>读取中…</translation>
    </message>
    <message>
        <source>%1 – Furrow</source>
        <translation>%1 – Furrow</translation>
    </message>
    <message>
        <source>Writer: supervisor, alive</source>
        <translation>写入者：监督进程，存活</translation>
    </message>
    <message>
        <source>Writer: none</source>
        <translation>写入者：无</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Start…</source>
        <translation>开始…</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>The path of the run is on the clipboard.</source>
        <translation>运行路径已复制到剪贴板。</translation>
    </message>
    <message>
        <source>Pausing at the end of the chunks in training…</source>
        <translation>将在训练中的数据段结束时暂停…</translation>
    </message>
    <message>
        <source>Stopping after a checkpoint…</source>
        <translation>保存检查点后将停止…</translation>
    </message>
    <message>
        <source>Killing…</source>
        <translation>正在强制结束…</translation>
    </message>
    <message>
        <source>Saving a checkpoint…</source>
        <translation>正在保存检查点…</translation>
    </message>
    <message>
        <source>Looking at what a resume would do…</source>
        <translation>正在查看恢复会做什么…</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在开始…</translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation>正在创建运行…</translation>
    </message>
    <message>
        <source>Kill %1</source>
        <translation>强制结束 %1</translation>
    </message>
    <message>
        <source>End all processes of this run now?</source>
        <translation>现在结束此运行的所有进程吗？</translation>
    </message>
    <message>
        <source>Kill now</source>
        <translation>立即强制结束</translation>
    </message>
    <message>
        <source>Stop after a checkpoint</source>
        <translation>保存检查点后停止</translation>
    </message>
    <message>
        <source>Keep training</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>Why this state?</source>
        <translation>为何是此状态？</translation>
    </message>
    <message>
        <source>%1 is %2</source>
        <translation>%1 的状态：%2</translation>
    </message>
    <message>
        <source>Nothing has been recorded yet.</source>
        <translation>尚无记录。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Open run folder</source>
        <translation>打开运行文件夹</translation>
    </message>
    <message>
        <source>Open workspace</source>
        <translation>打开工作区</translation>
    </message>
    <message>
        <source>Save picture of the window</source>
        <translation>保存窗口图片</translation>
    </message>
    <message>
        <source>Saved as %1.</source>
        <translation>已保存为 %1。</translation>
    </message>
    <message>
        <source>%1 could not be written.</source>
        <translation>无法写入 %1。</translation>
    </message>
    <message>
        <source>Attempt %1 of %2</source>
        <translation>第 %1 次尝试，共 %2 次</translation>
    </message>
    <message>
        <source>About Furrow</source>
        <translation>关于 Furrow</translation>
    </message>
    <message>
        <source>Furrow %1</source>
        <translation>Furrow %1</translation>
    </message>
    <message>
        <source>Trains every chunk of a data set exactly once per epoch, and can prove it.
Free software under the GNU General Public License, version 3 or later.</source>
        <translation>每一轮恰好把数据集的每个数据段训练一次，并能加以证明。
自由软件，遵循 GNU 通用公共许可证第 3 版或更新版本。</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Save perspective</source>
        <translation>保存视角</translation>
    </message>
    <message>
        <source>Save page as picture</source>
        <translation>将页面存为图片</translation>
    </message>
    <message>
        <source>GPU history</source>
        <translation>GPU 历史</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Queue %1</source>
        <translation>队列 %1</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>移到回收站</translation>
    </message>
    <message>
        <source>Move %1 to the trash of this workspace?</source>
        <translation>将 %1 移到此工作区的回收站？</translation>
    </message>
    <message>
        <source>The folder with its checkpoints moves to %1. Nothing is deleted; it can be restored.</source>
        <translation>文件夹及其检查点将移到 %1。不会删除任何内容，可以恢复。</translation>
    </message>
    <message>
        <source>Keep the run</source>
        <translation>保留运行</translation>
    </message>
    <message>
        <source>The trash of this workspace is empty.</source>
        <translation>此工作区的回收站是空的。</translation>
    </message>
    <message>
        <source>Restore from trash</source>
        <translation>从回收站恢复</translation>
    </message>
    <message>
        <source>from the run %1</source>
        <translation>来自运行 %1</translation>
    </message>
    <message>
        <source>Docks</source>
        <translation>面板</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Save loss chart as picture</source>
        <translation>将损失图表存为图片</translation>
    </message>
    <message>
        <source>Save loss chart as table</source>
        <translation>将损失图表存为表格</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Name of the perspective</source>
        <translation>视角名称</translation>
    </message>
    <message>
        <source>%1 moves to the trash. Run &gt; Restore from trash brings it back.</source>
        <translation>%1 正移入回收站。可用“运行 &gt; 从回收站恢复”取回。</translation>
    </message>
    <message>
        <source>Run to restore</source>
        <translation>要恢复的运行</translation>
    </message>
    <message>
        <source>Restore the run</source>
        <translation>恢复此运行</translation>
    </message>
    <message>
        <source>Charts: %1</source>
        <translation>图表：%1</translation>
    </message>
    <message>
        <source>Evaluating at the next step…</source>
        <translation>将在下一步评估…</translation>
    </message>
    <message>
        <source>The run stops when the next block is complete.</source>
        <translation>运行将在下一个块完成时停止。</translation>
    </message>
    <message>
        <source>The run stops at the end of this epoch.</source>
        <translation>运行将在此轮次结束时停止。</translation>
    </message>
    <message>
        <source>Mark as read</source>
        <translation>标为已读</translation>
    </message>
    <message>
        <source>Dismisses the warning</source>
        <translation>关闭此警告</translation>
    </message>
    <message>
        <source>Taking the tracker forward…</source>
        <translation>正在推进账本…</translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation>恢复 %1</translation>
    </message>
    <message>
        <source>The tracker is older than the weights</source>
        <translation>账本比权重旧</translation>
    </message>
    <message>
        <source>%1 Take it forward from the manifests? The file as it is now is kept beside it.</source>
        <translation>%1 要根据清单将它推进到最新吗？当前的文件会保留在旁边。</translation>
    </message>
    <message>
        <source>Take the tracker forward</source>
        <translation>推进账本</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The poisoned chunks are tried again.</source>
        <translation>正在重试有毒的数据段。</translation>
    </message>
    <message>
        <source>Accept that no poisoned chunk is trained?</source>
        <translation>接受所有有毒的数据段都不训练吗？</translation>
    </message>
    <message numerus="yes">
        <source>Accept that %n poisoned chunk(s) are not trained?</source>
        <translation>
            <numerusform>接受 %n 个有毒的数据段不训练吗？</numerusform>
        </translation>
    </message>
    <message>
        <source>Accept poisoned chunks</source>
        <translation>接受有毒的数据段</translation>
    </message>
    <message>
        <source>The epoch can end without them; audit and reports go on naming them.</source>
        <translation>轮次可以不含它们而结束；审计和报告仍会列出它们。</translation>
    </message>
    <message>
        <source>Accept</source>
        <translation>接受</translation>
    </message>
    <message>
        <source>Leave them poisoned</source>
        <translation>保持有毒</translation>
    </message>
    <message>
        <source>This run cannot be resumed as it is</source>
        <translation>此运行在当前状态下无法恢复</translation>
    </message>
    <message>
        <source>no perspective of your own is shown</source>
        <translation>未显示自建的视角</translation>
    </message>
    <message>
        <source>no run is shown</source>
        <translation>未显示任何运行</translation>
    </message>
    <message>
        <source>another command is under way</source>
        <translation>另一命令正在进行</translation>
    </message>
    <message>
        <source>the run is not being trained</source>
        <translation>没有进程在训练此运行</translation>
    </message>
    <message>
        <source>the run is being trained</source>
        <translation>此运行正在训练</translation>
    </message>
    <message>
        <source>the run was not started yet</source>
        <translation>此运行尚未开始</translation>
    </message>
    <message>
        <source>the run is finished already</source>
        <translation>此运行已完成</translation>
    </message>
    <message>
        <source>there are fewer than two replicas to merge</source>
        <translation>可合并的副本不足两个</translation>
    </message>
    <message>
        <source>no chunk is poisoned</source>
        <translation>没有有毒的数据段</translation>
    </message>
    <message>
        <source>the run is in the workspace</source>
        <translation>此运行位于工作区内</translation>
    </message>
    <message>
        <source>Every chunk that was begun is in a checkpoint.</source>
        <translation>已开始的数据段都在检查点中。</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are not in a checkpoint now; a resume trains them again. Stop would save them first.</source>
        <translation>
            <numerusform>现在有 %n 个数据段不在检查点中；恢复时会重新训练。“停止”会先保存它们。</numerusform>
        </translation>
    </message>
    <message>
        <source>only on the pages Charts and Coverage</source>
        <translation>仅限图表页和覆盖页</translation>
    </message>
    <message>
        <source>only on the page Charts</source>
        <translation>仅限图表页</translation>
    </message>
    <message>
        <source>no chunk is selected</source>
        <translation>未选择数据段</translation>
    </message>
    <message>
        <source>The run has ended in the meantime.</source>
        <translation>运行已在此期间结束。</translation>
    </message>
    <message>
        <source>the toolbar always stays</source>
        <translation>工具栏始终保留</translation>
    </message>
    <message>
        <source>Chunks twice or missing</source>
        <translation>重复或缺漏的数据段</translation>
    </message>
    <message>
        <source>Chunks twice or missing %1 · %2</source>
        <translation>重复或缺漏的数据段 %1 · %2</translation>
    </message>
    <message>
        <source>Cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>Let the workers continue</source>
        <translation>让工作进程继续训练</translation>
    </message>
    <message>
        <source>Pause at the end of the chunks in training</source>
        <translation>在训练中的数据段结束时暂停</translation>
    </message>
    <message>
        <source>the folder of the run cannot be read</source>
        <translation>无法读取该运行的文件夹</translation>
    </message>
    <message numerus="yes">
        <source>%1 is not a run, but it holds %n run(s): File &gt; Open workspace shows them.</source>
        <translation>
            <numerusform>%1 不是运行，但其中有 %n 个运行：“文件 &gt; 打开工作区”可显示它们。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is not a run: it has no run.json. Choose the folder of one run.</source>
        <translation>%1 不是运行：它没有 run.json。请选择某个运行的文件夹。</translation>
    </message>
    <message>
        <source>%1 is a run, not a workspace: File &gt; Open run folder shows it.</source>
        <translation>%1 是运行而不是工作区：“文件 &gt; 打开运行文件夹”可显示它。</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Writer: supervisor, stands still</source>
        <translation>写入者：监督进程，停住</translation>
    </message>
    <message>
        <source>the run is being read</source>
        <translation>正在读取该运行</translation>
    </message>
    <message>
        <source>no chunk is selected that is not trained yet</source>
        <translation>没有选中尚未训练的数据段</translation>
    </message>
    <message>
        <source>Leave chunks out of this run</source>
        <translation>从本次运行中排除数据段</translation>
    </message>
    <message numerus="yes">
        <source>Leave %n chunk(s) out of this run?</source>
        <translation>
            <numerusform>从本次运行中排除 %n 个数据段？</numerusform>
        </translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>Keep them</source>
        <translation>保留</translation>
    </message>
    <message numerus="yes">
        <source>Add a tag to %n run(s)…</source>
        <translation>
            <numerusform>给 %n 个运行添加标签…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash…</source>
        <translation>
            <numerusform>把 %n 个运行移到回收站…</numerusform>
        </translation>
    </message>
    <message>
        <source>Add a tag</source>
        <translation>添加标签</translation>
    </message>
    <message>
        <source>Tag</source>
        <translation>标签</translation>
    </message>
    <message numerus="yes">
        <source>Add it to %n run(s)</source>
        <translation>
            <numerusform>添加到 %n 个运行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to the trash of this workspace?</source>
        <translation>
            <numerusform>把 %n 个运行移到此工作区的回收站？</numerusform>
        </translation>
    </message>
    <message>
        <source>The folders with their checkpoints move to %1. Nothing is deleted; they can be restored.</source>
        <translation>文件夹及其检查点将移到 %1。不会删除任何内容，可以恢复。</translation>
    </message>
    <message numerus="yes">
        <source>Move %n run(s) to trash</source>
        <translation>
            <numerusform>把 %n 个运行移到回收站</numerusform>
        </translation>
    </message>
    <message>
        <source>Keep the runs</source>
        <translation>保留这些运行</translation>
    </message>
    <message numerus="yes">
        <source>%n of them are in the weights in part; that part stays, the rest is not trained.</source>
        <translation>
            <numerusform>其中 %n 个有一部分已在权重中；这部分保留，其余不再训练。</numerusform>
        </translation>
    </message>
    <message>
        <source>Tried again: %1.</source>
        <translation>重新尝试：%1。</translation>
    </message>
    <message>
        <source>Not allowed</source>
        <translation>不允许</translation>
    </message>
    <message>
        <source>You do not have the right to do this</source>
        <translation>您没有权限执行此操作</translation>
    </message>
    <message>
        <source>Leave %1 out of this run?</source>
        <translation>从本次运行中排除 %1？</translation>
    </message>
    <message>
        <source>Accept that %1 is not trained?</source>
        <translation>接受 %1 不训练吗？</translation>
    </message>
    <message>
        <source>This chunk will be trained in no epoch that is open now nor in later ones of this run. It counts as excluded, and audit and reports name it. That cannot be taken back.</source>
        <translation>此数据段在现在开放的各轮以及本次运行以后的各轮中都不会被训练。它计为已排除，审计和报告会列出它。此操作无法撤销。</translation>
    </message>
    <message>
        <source>These chunks will be trained in no epoch that is open now nor in later ones of this run. They count as excluded, and audit and reports name them. That cannot be taken back.</source>
        <translation>这些数据段在现在开放的各轮以及本次运行以后的各轮中都不会被训练。它们计为已排除，审计和报告会列出它们。此操作无法撤销。</translation>
    </message>
    <message>
        <source>It is in the weights in part; that part stays, the rest is not trained.</source>
        <translation>它有一部分已在权重中；那一部分保留，其余的不再训练。</translation>
    </message>
    <message numerus="yes">
        <source>%n other selected chunk(s) stay, trained already or in training.</source>
        <translation>
            <numerusform>另有 %n 个选中的数据段保留：已训练或正在训练。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::MapLegend</name>
    <message>
        <source>Minutes since training</source>
        <translation>训练后经过的分钟</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Attempt</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>State of each chunk</source>
        <translation>每个数据段的状态</translation>
    </message>
    <message>
        <source>sum</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>twice</source>
        <translation>两次</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>block open for claims</source>
        <translation>可领取的块</translation>
    </message>
    <message>
        <source>Where the data of each block is</source>
        <translation>每个块的数据所在处</translation>
    </message>
    <message>
        <source>remote</source>
        <translation>远程</translation>
    </message>
    <message>
        <source>fetching</source>
        <translation>正在获取</translation>
    </message>
    <message>
        <source>evicted</source>
        <translation>已移出缓存</translation>
    </message>
    <message>
        <source>prepared</source>
        <translation>已准备</translation>
    </message>
    <message>
        <source>What the parent run had trained</source>
        <translation>父运行已训练的内容</translation>
    </message>
    <message>
        <source>new here</source>
        <translation>此处新增</translation>
    </message>
    <message>
        <source>trained again</source>
        <translation>再次训练</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>略去</translation>
    </message>
    <message>
        <source>epoch %1 is open too, to come</source>
        <translation>第 %1 轮也未完成，剩余</translation>
    </message>
    <message>
        <source>Trainings, parts and lost ones included</source>
        <translation>训练次数（含分段和丢失的）</translation>
    </message>
    <message>
        <source>trained again, work was lost</source>
        <translation>重新训练，工作曾丢失</translation>
    </message>
    <message>
        <source>not prepared</source>
        <translation>未准备</translation>
    </message>
    <message>
        <source>of lost ones kept in part</source>
        <translation>丢失的当中保留一部分</translation>
    </message>
    <message>
        <source>Loss above the trend, %1</source>
        <translation>高于趋势的损失，%1</translation>
    </message>
    <message>
        <source>Loss, %1</source>
        <translation>损失，%1</translation>
    </message>
    <message>
        <source>Loss against the other training, %1</source>
        <translation>与另一次训练相比的损失，%1</translation>
    </message>
</context>
<context>
    <name>furrow::MemoryView</name>
    <message>
        <source>GPU memory, each</source>
        <translation>每个 GPU 的显存</translation>
    </message>
    <message>
        <source>Memory of each worker</source>
        <translation>每个工作进程的内存</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>尚不知道</translation>
    </message>
    <message>
        <source>%1 parameters.</source>
        <translation>%1 个参数。</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>约 %1</translation>
    </message>
    <message>
        <source>free %1</source>
        <translation>空闲 %1</translation>
    </message>
    <message>
        <source>Known once the model can be built.</source>
        <translation>模型可以构建后即可知道。</translation>
    </message>
    <message>
        <source>The program itself %1, a copy for checkpoints %2.</source>
        <translation>程序本身 %1，用于检查点的副本 %2。</translation>
    </message>
    <message numerus="yes">
        <source>%1 to %2, corrected by what %n worker(s) of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation>
            <numerusform>%1 至 %2，已按先前运行中 %n 个工作进程的实际占用修正。按公式：权重及其副本 %3、梯度 %4、优化器 %5、激活 %6、logits %7。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 to %2 by formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.</source>
        <translation>按公式为 %1 至 %2：权重及其副本 %3、梯度 %4、优化器 %5、激活 %6、logits %7。</translation>
    </message>
    <message>
        <source>Known once what must be corrected is right.</source>
        <translation>更正后才能知道。</translation>
    </message>
</context>
<context>
    <name>furrow::MergeDialog</name>
    <message>
        <source>Merge replicas</source>
        <translation>合并副本</translation>
    </message>
    <message numerus="yes">
        <source>%n replica(s) trained separately</source>
        <translation>
            <numerusform>%n 个副本各自训练</numerusform>
        </translation>
    </message>
    <message>
        <source>Merging makes one model of them, and every replica continues from it. The checkpoints of the members stay, as far as the keep policy keeps them. All losses are on the same held-out text.</source>
        <translation>合并把它们变成一个模型，之后每个副本都从它继续。成员的检查点按保留策略保留。所有损失都来自同一份留出文本。</translation>
    </message>
    <message>
        <source>Replica %1</source>
        <translation>副本 %1</translation>
    </message>
    <message>
        <source>%1, %2 tokens</source>
        <translation>%1，%2 个词元</translation>
    </message>
    <message>
        <source>Merged</source>
        <translation>合并结果</translation>
    </message>
    <message>
        <source>not made yet</source>
        <translation>尚未生成</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>as set for the run</source>
        <translation>按运行的设置</translation>
    </message>
    <message>
        <source>average, weighted by tokens</source>
        <translation>按词元加权平均</translation>
    </message>
    <message>
        <source>DiLoCo: outer momentum</source>
        <translation>DiLoCo：外层动量</translation>
    </message>
    <message>
        <source>Held-out loss of %1</source>
        <translation>%1 的留出损失</translation>
    </message>
    <message>
        <source>Evaluate members</source>
        <translation>评估成员</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message numerus="yes">
        <source>Merge %n replica(s)</source>
        <translation>
            <numerusform>合并 %n 个副本</numerusform>
        </translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation>正在评估 %1…</translation>
    </message>
    <message>
        <source>Merging…</source>
        <translation>正在合并…</translation>
    </message>
    <message>
        <source>Nothing has been merged yet.</source>
        <translation>尚未合并。</translation>
    </message>
    <message>
        <source>Held-out loss</source>
        <translation>留出损失</translation>
    </message>
    <message>
        <source>No replica has trained anything since the last merge.</source>
        <translation>自上次合并以来，没有副本训练过任何内容。</translation>
    </message>
    <message>
        <source>The merged weights are better than the best member by %1 %2.</source>
        <translation>合并后的权重比最佳成员好 %1 %2。</translation>
    </message>
    <message>
        <source>The merged weights are worse than the best member by %1 %2; more training usually mends that.</source>
        <translation>合并后的权重比最佳成员差 %1 %2；继续训练通常可以弥补。</translation>
    </message>
</context>
<context>
    <name>furrow::Meter</name>
    <message>
        <source>%1: %2 of %3, %4</source>
        <translation>%1：%2 / %3，%4</translation>
    </message>
    <message>
        <source>%1: %2, total not known yet</source>
        <translation>%1：%2，总数尚不知道</translation>
    </message>
    <message>
        <source>total not known yet</source>
        <translation>总数尚不知道</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>furrow::NewRunPage</name>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>运行的名称</translation>
    </message>
    <message>
        <source>Find a setting</source>
        <translation>查找设置</translation>
    </message>
    <message>
        <source>Changed only</source>
        <translation>仅看更改</translation>
    </message>
    <message>
        <source>Back to the runs</source>
        <translation>返回运行列表</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>No setting matches.</source>
        <translation>没有匹配的设置。</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>%1, more</source>
        <translation>%1，更多</translation>
    </message>
    <message>
        <source>%1
the file cannot be read</source>
        <translation>%1
无法读取该文件</translation>
    </message>
    <message>
        <source>%1 in %2</source>
        <translation>%2 中的 %1</translation>
    </message>
    <message>
        <source>Changed only (%1)</source>
        <translation>仅看更改（%1）</translation>
    </message>
    <message>
        <source>Creating the run…</source>
        <translation>正在创建运行…</translation>
    </message>
    <message>
        <source>Save preset</source>
        <translation>保存预设</translation>
    </message>
    <message>
        <source>Choose the data</source>
        <translation>选择数据</translation>
    </message>
    <message>
        <source>Folder with safetensors and their configuration</source>
        <translation>含 safetensors 及其配置的文件夹</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>预设名称</translation>
    </message>
    <message>
        <source>Name (otherwise preset and data)</source>
        <translation>名称；留空则用预设和数据</translation>
    </message>
    <message>
        <source>a checkpoint…</source>
        <translation>检查点…</translation>
    </message>
    <message>
        <source>safetensors…</source>
        <translation>safetensors…</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>Start from %1</source>
        <translation>起点：%1</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>内置</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>自己的</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n other setting(s)</source>
        <translation>
            <numerusform>%1，%n 项设置不同</numerusform>
        </translation>
    </message>
    <message>
        <source>Text data (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;All files (*)</source>
        <translation>文本数据 (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;所有文件 (*)</translation>
    </message>
    <message>
        <source>All data together has about %1 tokens, less than one window of %2. Choose more text, or a shorter sequence length.</source>
        <translation>全部数据共约 %1 个词元，少于一个 %2 的窗口。请选择更多文本，或更短的序列长度。</translation>
    </message>
    <message>
        <source>a GGUF…</source>
        <translation>GGUF…</translation>
    </message>
    <message>
        <source>A model as GGUF</source>
        <translation>GGUF 格式的模型</translation>
    </message>
    <message>
        <source>a model on the hub…</source>
        <translation>Hub 上的模型…</translation>
    </message>
</context>
<context>
    <name>furrow::NotesDialog</name>
    <message>
        <source>Tags and note of %1</source>
        <translation>%1 的标签和备注</translation>
    </message>
    <message>
        <source>Separated by commas</source>
        <translation>以逗号分隔</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>分组</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Save notes</source>
        <translation>保存备注</translation>
    </message>
</context>
<context>
    <name>furrow::Notifier</name>
    <message>
        <source>The command for alerts could not be started: %1.</source>
        <translation>无法启动警报命令：%1。</translation>
    </message>
</context>
<context>
    <name>furrow::OverviewPage</name>
    <message>
        <source>Eval loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>每秒词元数</translation>
    </message>
    <message>
        <source>Optimiser steps</source>
        <translation>优化步数</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Active time</source>
        <translation>活动时间</translation>
    </message>
    <message>
        <source>Newest checkpoint</source>
        <translation>最新检查点</translation>
    </message>
    <message>
        <source>Newest text of the model</source>
        <translation>模型最新的文本</translation>
    </message>
    <message>
        <source>The epoch stays open: %1</source>
        <translation>本轮仍未结束：%1</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>还没有</translation>
    </message>
    <message>
        <source>%1 ago</source>
        <translation>%1前</translation>
    </message>
    <message>
        <source>What the model writes after %1 steps</source>
        <translation>%1 步之后模型写出的文本</translation>
    </message>
    <message>
        <source>Samples read</source>
        <translation>已读样本</translation>
    </message>
    <message>
        <source>Text read</source>
        <translation>已读文本</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>Feeder busy</source>
        <translation>供数占用</translation>
    </message>
    <message>
        <source>Repeated text</source>
        <translation>重复文本</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>训练损失</translation>
    </message>
    <message>
        <source>No steps recorded yet.</source>
        <translation>尚无记录的步。</translation>
    </message>
    <message>
        <source>%1 blocks prepared, %2 found in the cache</source>
        <translation>已准备 %1 个块，缓存中找到 %2 个</translation>
    </message>
    <message numerus="yes">
        <source>; downloaded %1 in %n request(s)</source>
        <translation>
            <numerusform>；通过 %n 次请求下载了 %1</numerusform>
        </translation>
    </message>
    <message>
        <source>At %1 MB/s while a block is made</source>
        <translation>准备块时为 %1 MB/s</translation>
    </message>
    <message>
        <source>Places in training windows that hold no token to learn from</source>
        <translation>训练窗口中没有可学习词元的位置</translation>
    </message>
    <message>
        <source>Share of time that the feeder spends making blocks; near 100 % the workers may wait for data</source>
        <translation>供数进程用于准备块的时间占比；接近 100 % 时工作进程可能要等待数据</translation>
    </message>
    <message>
        <source>Share of the text prepared in this attempt that repeats text before it, anywhere in the data, and is trained all the same</source>
        <translation>本次尝试中已准备的文本里，与数据中任意位置之前的文本重复、但仍参与训练的比例</translation>
    </message>
    <message>
        <source>Blocks from the cache</source>
        <translation>来自缓存的块</translation>
    </message>
    <message>
        <source>none, all cached</source>
        <translation>无，全部来自缓存</translation>
    </message>
    <message>
        <source>From the sources, to make blocks; a block that lies prepared in the cache of the workspace is not read again</source>
        <translation>从数据源读取以准备块；已准备好并存放在工作区缓存中的块不会再次读取</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Unknown characters</source>
        <translation>未知字符</translation>
    </message>
    <message>
        <source>Tokens that stand for characters the vocabulary does not have</source>
        <translation>代表词表中没有的字符的词元</translation>
    </message>
    <message>
        <source>Uses of each sample</source>
        <translation>每个样本的使用次数</translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation>%1 次</translation>
    </message>
    <message>
        <source>Samples, all epochs</source>
        <translation>样本（所有轮次）</translation>
    </message>
    <message>
        <source>Loss, last step</source>
        <translation>损失（最近一步）</translation>
    </message>
    <message>
        <source>No weights have been evaluated on held-out text yet</source>
        <translation>尚未在留出文本上评估任何权重</translation>
    </message>
    <message>
        <source>Repeats trained</source>
        <translation>训练的重复文本</translation>
    </message>
    <message>
        <source>Left when the run ended: %1</source>
        <translation>运行结束时剩余：%1</translation>
    </message>
    <message>
        <source>Eval loss, not the newest, step %1</source>
        <translation>评估损失，非最新，第 %1 步</translation>
    </message>
    <message>
        <source>Eval loss, merged, step %1</source>
        <translation>评估损失，合并后，第 %1 步</translation>
    </message>
    <message>
        <source>Eval loss, worker %1, step %2</source>
        <translation>评估损失，工作进程 %1，第 %2 步</translation>
    </message>
    <message>
        <source>Now, all workers together. Kept tokens per second of active time: %1</source>
        <translation>当前，所有工作进程合计。每秒活动时间保留的词元数：%1</translation>
    </message>
    <message>
        <source>No worker trains now. Kept tokens per second of active time: %1</source>
        <translation>当前没有工作进程在训练。每秒活动时间保留的词元数：%1</translation>
    </message>
    <message>
        <source>%1 A worker counts its own steps, including those whose work was lost</source>
        <translation>%1 每个工作进程统计自己的步数，包括工作已丢失的步</translation>
    </message>
    <message numerus="yes">
        <source>Mean of %n worker(s), of the loss of their newest step, weighted by the tokens trained; the curves are smoothed</source>
        <translation>
            <numerusform>%n 个工作进程最新一步损失的均值，按已训练的词元数加权；曲线已平滑</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The newest steps of %n of them are lost and are trained again</source>
        <translation>
            <numerusform>其中 %n 个的最新步已丢失，将重新训练</numerusform>
        </translation>
    </message>
    <message>
        <source>Of all epochs: a sample counts once for each epoch it was trained in, in a chunk that is committed or was left out after a part of it was. Samples that were left out because their steps were not finite are not among them</source>
        <translation>所有轮次：样本每训练一轮计一次，其数据段已提交，或在部分提交后被排除。因步骤数值非有限而排除的样本不计在内</translation>
    </message>
    <message>
        <source>Samples trained, over all epochs, per sample to be trained; what is held out or left out is not counted</source>
        <translation>所有轮次中已训练的样本数与应训练样本数之比；留出或排除的不计</translation>
    </message>
</context>
<context>
    <name>furrow::OverviewStrip</name>
    <message>
        <source>Visible range</source>
        <translation>可见范围</translation>
    </message>
</context>
<context>
    <name>furrow::QuarantineDialog</name>
    <message>
        <source>Quarantine list</source>
        <translation>隔离清单</translation>
    </message>
    <message>
        <source>List</source>
        <translation>清单</translation>
    </message>
    <message>
        <source>left-out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>Name of the list</source>
        <translation>清单名称</translation>
    </message>
    <message>
        <source>What is left out</source>
        <translation>被排除的内容</translation>
    </message>
    <message>
        <source>One entry per line:
chunk BLOCK:COLUMN
sample FINGERPRINT
pattern REGULAR EXPRESSION</source>
        <translation>每行一项：
chunk 块:列
sample 指纹
pattern 正则表达式</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Save list</source>
        <translation>保存清单</translation>
    </message>
    <message>
        <source>New run without these…</source>
        <translation>不含这些的新运行…</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n 个数据段</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s)</source>
        <translation>
            <numerusform>%n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>A list applies to later runs. Existing runs are not changed; chunks of the run that is shown are left out by the menu Data. Chunks are named by their place, so they mean the same only with the same data, samples per block and chunk size. Samples and patterns mean the same everywhere.</source>
        <translation>列表适用于以后的运行，不改变已有的运行；当前显示的运行的数据段可在“数据”菜单中排除。数据段按位置命名，因此只有在数据、每块样本数和数据段大小相同时含义才相同。样本和模式在任何地方含义都相同。</translation>
    </message>
</context>
<context>
    <name>furrow::QueueDock</name>
    <message>
        <source>Pause queue</source>
        <translation>暂停队列</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>提前</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>延后</translation>
    </message>
    <message>
        <source>Let the next one run</source>
        <translation>让下一个先运行</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移出</translation>
    </message>
    <message>
        <source>Clear ended</source>
        <translation>清除已结束</translation>
    </message>
    <message>
        <source>Stop this run after a checkpoint and start the next one in its lane; it continues afterwards</source>
        <translation>保存检查点后停止此运行并开始同一通道的下一个；之后继续</translation>
    </message>
    <message>
        <source>Start queue</source>
        <translation>启动队列</translation>
    </message>
    <message>
        <source>No run is waiting. “Queue” in a new run puts it here; runs that share a device wait for each other.</source>
        <translation>没有等待的运行。在新建运行时点“队列”会将其放到这里；共用设备的运行依次等待。</translation>
    </message>
    <message>
        <source>Paused: nothing new is started; what is training goes on.</source>
        <translation>已暂停：不再启动新的，正在训练的继续。</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) waiting or training.</source>
        <translation>
            <numerusform>%n 个运行在等待或训练。</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is waiting.</source>
        <translation>没有等待的运行。</translation>
    </message>
    <message>
        <source>No process runs the queue: nothing of it is started.</source>
        <translation>没有进程在运行队列：其中的任何运行都不会启动。</translation>
    </message>
</context>
<context>
    <name>furrow::RatePreview</name>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>As usual: smoothly into a new schedule</source>
        <translation>照常：平滑进入新的计划</translation>
    </message>
    <message>
        <source>The schedule keeps its length</source>
        <translation>计划保持原有长度</translation>
    </message>
    <message>
        <source>The new schedule at once</source>
        <translation>立即采用新的计划</translation>
    </message>
    <message>
        <source>A new cycle from here, with a new warm-up</source>
        <translation>从此处开始新的周期，并重新预热</translation>
    </message>
    <message>
        <source>How the learning rate goes on</source>
        <translation>学习率如何继续</translation>
    </message>
</context>
<context>
    <name>furrow::ReplayBar</name>
    <message>
        <source>Moment of the run</source>
        <translation>运行的时刻</translation>
    </message>
    <message>
        <source>Speed of the replay</source>
        <translation>回放速度</translation>
    </message>
    <message>
        <source>%1. Take every view back to a past moment; the run goes on</source>
        <translation>%1。让所有视图回到过去某一时刻；运行继续</translation>
    </message>
</context>
<context>
    <name>furrow::ResumeDialog</name>
    <message>
        <source>Start %1</source>
        <translation>开始 %1</translation>
    </message>
    <message>
        <source>Resume %1</source>
        <translation>恢复 %1</translation>
    </message>
    <message>
        <source>Attempt 1 begins with fresh weights</source>
        <translation>第 1 次尝试从全新的权重开始</translation>
    </message>
    <message>
        <source>What happens to each chunk</source>
        <translation>每个数据段会怎样</translation>
    </message>
    <message>
        <source>No chunk is known yet.</source>
        <translation>还没有已知的数据段。</translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s); the counts beside it say the same</source>
        <translation>
            <numerusform>%n 个数据段的图；旁边的数字含义相同</numerusform>
        </translation>
    </message>
    <message>
        <source>Dry run</source>
        <translation>预演</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>in checkpoints that are on disk and verified</source>
        <translation>在磁盘上且已核验的检查点中</translation>
    </message>
    <message>
        <source>To be redone</source>
        <translation>需重做</translation>
    </message>
    <message>
        <source>Work lost</source>
        <translation>工作丢失</translation>
    </message>
    <message>
        <source>Orphaned claims released</source>
        <translation>释放的孤立领取</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>sum %1</source>
        <translation>合计 %1</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Start as attempt 1</source>
        <translation>作为第 1 次尝试开始</translation>
    </message>
    <message>
        <source>Resume as attempt %1</source>
        <translation>作为第 %1 次尝试恢复</translation>
    </message>
    <message>
        <source>chunks twice %1</source>
        <translation>重复的数据段 %1</translation>
    </message>
    <message>
        <source>missing %1</source>
        <translation>缺失 %1</translation>
    </message>
    <message>
        <source>Start from</source>
        <translation>起点</translation>
    </message>
    <message>
        <source>From an older checkpoint, what is newer leaves the weights: its chunks are free again and are trained once more. The files stay for sampling and new runs.</source>
        <translation>从较旧的检查点开始时，较新的内容会从权重中移除：其数据段重新空闲并再训练一次。文件保留，可用于采样和新运行。</translation>
    </message>
    <message>
        <source>No chunk is trained again.</source>
        <translation>没有数据段需要重新训练。</translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again, about %1; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n 个数据段重新训练，约 %1；此后每个数据段在权重中恰好一次。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s) are trained again; after that each is in the weights once.</source>
        <translation>
            <numerusform>%n 个数据段重新训练；此后每个数据段在权重中恰好一次。</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing changes until you press the button below.</source>
        <translation>在按下下方按钮之前不会有任何改变。</translation>
    </message>
    <message>
        <source>Changed for attempt %1</source>
        <translation>第 %1 次尝试的更改</translation>
    </message>
    <message>
        <source>After an interruption, resume automatically, at most %1 times</source>
        <translation>中断后自动恢复，最多 %1 次</translation>
    </message>
    <message>
        <source>Change settings or devices…</source>
        <translation>更改设置或设备…</translation>
    </message>
    <message>
        <source>only in a checkpoint that is damaged or cannot be read</source>
        <translation>仅在损坏或无法读取的检查点中</translation>
    </message>
    <message>
        <source>trained after checkpoint %1, or only in one that is incomplete</source>
        <translation>在检查点 %1 之后训练，或仅在不完整的检查点中</translation>
    </message>
    <message numerus="yes">
        <source>I accept that %n chunk(s) are trained again</source>
        <translation>
            <numerusform>我接受重新训练 %n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>Epoch of the map</source>
        <translation>图中的轮次</translation>
    </message>
    <message>
        <source>The counts are of all these epochs together, the map is of one.</source>
        <translation>数字是所有这些轮次的总和，图只显示其中一个。</translation>
    </message>
    <message>
        <source>trained or begun after the newest checkpoint; those weights are gone</source>
        <translation>在最新检查点之后训练过或已开始；那些权重已丢失</translation>
    </message>
    <message>
        <source>claimed by workers that are gone, never begun</source>
        <translation>由已退出的工作进程领取，从未开始</translation>
    </message>
    <message numerus="yes">
        <source>Map of %n chunk(s) of epoch %1; the counts beside it are of all open epochs</source>
        <translation>
            <numerusform>第 %1 轮的 %n 个数据段的图；旁边的数字是所有未完成轮次的总和</numerusform>
        </translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>重新查看</translation>
    </message>
    <message>
        <source>Partly trained</source>
        <translation>部分已训练</translation>
    </message>
    <message>
        <source>a part of each is in checkpoints and kept; only the rest is trained, nothing of them again</source>
        <translation>各自的一部分已在检查点中并会保留；只训练其余部分，不会重复训练</translation>
    </message>
    <message>
        <source>; of %1 of them a part is in checkpoints and kept</source>
        <translation>；其中 %1 个有一部分在检查点中并会保留</translation>
    </message>
    <message>
        <source>Attempt %1 failed: %2</source>
        <translation>第 %1 次尝试失败：%2</translation>
    </message>
    <message>
        <source>I accept that the run goes on without it</source>
        <translation>我接受运行在没有它的情况下继续</translation>
    </message>
    <message>
        <source>Partly trained: %1; what is trained of them is kept.</source>
        <translation>部分已训练：%1；其中已训练的部分会保留。</translation>
    </message>
    <message>
        <source>trained or begun after the checkpoint; those weights are gone, or left behind</source>
        <translation>在该检查点之后训练或开始；这些权重已丢失或被放弃</translation>
    </message>
    <message>
        <source>nobody holds them; %1 excluded and %2 poisoned or accepted stay so</source>
        <translation>无人持有；%1 个已排除、%2 个有毒或已接受的保持不变</translation>
    </message>
    <message>
        <source>; of these left out, their steps were not finite: %1</source>
        <translation>；其中被略去（其训练步不是有限值）的：%1</translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were left when the run went back to an older checkpoint</source>
        <translation>
            <numerusform>；其中 %Ln 个在运行回到较早的检查点时被放弃</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>; %Ln of them were only in a checkpoint that was damaged, gone or left out of a merge</source>
        <translation>
            <numerusform>；其中 %Ln 个只在一个已损坏、已不存在或未参与合并的检查点中</numerusform>
        </translation>
    </message>
    <message>
        <source>; chunks that are tried again because their files came wrong: %1</source>
        <translation>；因文件传输有误而再次尝试的数据段：%1</translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 keeps %2 of the %Ln chunk(s) of %3 that were trained or begun</source>
        <translation>
            <numerusform>第 %1 次尝试保留%3已训练或已开始的 %Ln 个数据段中的 %2 个</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunk(s) of %4 that were trained or begun</source>
        <translation>
            <numerusform>第 %1 次尝试从检查点 %2 开始，保留%4已训练或已开始的 %Ln 个数据段中的 %3 个</numerusform>
        </translation>
    </message>
    <message>
        <source>; trained by the parent run and left out here: %1</source>
        <translation>；父运行已训练、此处略去：%1</translation>
    </message>
    <message numerus="yes">
        <source>Not on this map: %Ln chunk(s) of %1, to be redone too.</source>
        <translation>
            <numerusform>不在此图上：%1的 %Ln 个数据段也要重做。</numerusform>
        </translation>
    </message>
    <message>
        <source>Look at the checkpoints and the data once more: a disk may be back</source>
        <translation>再看一次检查点和数据：磁盘可能已恢复</translation>
    </message>
    <message>
        <source>Of %1 of these a part is kept (%2 of their %3 samples), and only the rest is trained.</source>
        <translation>其中 %1 个保留了一部分（%3 个样本中的 %2 个），只训练其余部分。</translation>
    </message>
</context>
<context>
    <name>furrow::RunBanner</name>
    <message>
        <source>How do we know?</source>
        <translation>依据是什么？</translation>
    </message>
    <message>
        <source>Resume…</source>
        <translation>恢复…</translation>
    </message>
    <message>
        <source>Inspect</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>This run cannot be read</source>
        <translation>无法读取此运行</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Mark finished</source>
        <translation>标记为已完成</translation>
    </message>
    <message>
        <source>Accept the run as it is. It can still be resumed later.</source>
        <translation>按现状接受此运行已结束。以后仍可恢复。</translation>
    </message>
    <message>
        <source>Cancel automatic resume</source>
        <translation>取消自动恢复</translation>
    </message>
    <message>
        <source>%1 Resumes by itself in %2 (%3 of %4).</source>
        <translation>%1 将在 %2 后自动恢复（第 %3 次，共 %4 次）。</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>This run cannot be read any more</source>
        <translation>该运行已无法读取</translation>
    </message>
    <message>
        <source>%1 What is shown is from %2, when it was last read. It continues by itself when the folder is back.</source>
        <translation>%1 所示为上次于 %2 读取时的情况。文件夹恢复后会自动继续。</translation>
    </message>
    <message>
        <source>The checkpoints cannot be found</source>
        <translation>找不到检查点</translation>
    </message>
    <message>
        <source>The run waits for its data</source>
        <translation>运行等待数据</translation>
    </message>
    <message>
        <source>The run is about to stop</source>
        <translation>运行即将停止</translation>
    </message>
</context>
<context>
    <name>furrow::RunListModel</name>
    <message>
        <source>no end was recorded</source>
        <translation>没有记录结束</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>since %1</source>
        <translation>自 %1 起</translation>
    </message>
    <message>
        <source>from %1</source>
        <translation>从 %1 开始</translation>
    </message>
    <message>
        <source>Attempt %1</source>
        <translation>第 %1 次尝试</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 步</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 步</translation>
    </message>
</context>
<context>
    <name>furrow::RunView</name>
    <message>
        <source>Overview</source>
        <translation>概览</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>图表</translation>
    </message>
    <message>
        <source>Coverage</source>
        <translation>覆盖</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Pages of the run</source>
        <translation>运行的页面</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>furrow::SamplingPage</name>
    <message>
        <source>What the model writes</source>
        <translation>模型写出的文本</translation>
    </message>
    <message>
        <source>Written during training</source>
        <translation>训练期间写出的文本</translation>
    </message>
    <message>
        <source>Checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>Write text</source>
        <translation>生成文本</translation>
    </message>
    <message>
        <source>No checkpoint has been saved yet.</source>
        <translation>尚未保存检查点。</translation>
    </message>
    <message>
        <source>Stopped by you.</source>
        <translation>已由您停止。</translation>
    </message>
    <message>
        <source>Loading the checkpoint, then writing…</source>
        <translation>正在加载检查点，随后生成…</translation>
    </message>
    <message>
        <source>after %1 steps</source>
        <translation>%1 步之后</translation>
    </message>
    <message>
        <source>None. The setting “Sample every” writes some text while the run trains.</source>
        <translation>无。设置“采样间隔”会在训练时写出文本。</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>正在生成…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Empty: a text of its own</source>
        <translation>留空：由模型自行开头</translation>
    </message>
</context>
<context>
    <name>furrow::SeriesChart</name>
    <message>
        <source>No steps recorded yet.</source>
        <translation>尚无记录的步。</translation>
    </message>
    <message>
        <source>%1 NaN</source>
        <translation>%1 个 NaN</translation>
    </message>
    <message>
        <source>%1 infinite</source>
        <translation>%1 个无穷</translation>
    </message>
    <message>
        <source>falling</source>
        <translation>下降</translation>
    </message>
    <message>
        <source>rising</source>
        <translation>上升</translation>
    </message>
    <message>
        <source>level</source>
        <translation>平稳</translation>
    </message>
    <message>
        <source>%1 %2, at %3, %4</source>
        <translation>%1 %2，在 %3，%4</translation>
    </message>
    <message>
        <source>1 px = %1 points, min and max kept</source>
        <translation>1 像素 = %1 个点，保留最小和最大值</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>eval</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>%1, smoothed</source>
        <translation>%1，已平滑</translation>
    </message>
    <message numerus="yes">
        <source>%1, mean of %n workers</source>
        <translation>
            <numerusform>%1，%n 个工作进程的平均值</numerusform>
        </translation>
    </message>
    <message>
        <source>jumps of the loss</source>
        <translation>损失跳变</translation>
    </message>
    <message>
        <source>eval (lost)</source>
        <translation>评估（已丢失）</translation>
    </message>
</context>
<context>
    <name>furrow::ShortcutSheet</name>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Sort a table by the column of its cursor</source>
        <translation>按光标所在的列对表格排序</translation>
    </message>
</context>
<context>
    <name>furrow::SmallCharts</name>
    <message>
        <source>The replicas have not been merged yet.</source>
        <translation>副本尚未合并。</translation>
    </message>
</context>
<context>
    <name>furrow::StartMap</name>
    <message>
        <source>Chunk to start at</source>
        <translation>起始数据段</translation>
    </message>
    <message>
        <source>Planned from the number of samples. Where chunks would become larger than allowed they end earlier, so a block may have more of them.</source>
        <translation>根据样本数规划。会超过允许大小的数据段会提前结束，因此一个块可能有更多数据段。</translation>
    </message>
    <message>
        <source>Choose the data first: its blocks and chunks are shown here, to click the one to start at.</source>
        <translation>请先选择数据：这里会显示它的块和数据段，可点击要从哪个数据段开始。</translation>
    </message>
    <message>
        <source>Looking at the data…</source>
        <translation>正在查看数据…</translation>
    </message>
    <message>
        <source>The data cannot be read, so its chunks are not known.</source>
        <translation>数据无法读取，因此不知道它的数据段。</translation>
    </message>
    <message>
        <source>How this data is cut into blocks and chunks is not known before the run, so there is no map. A chunk can be typed above.</source>
        <translation>运行之前不知道这些数据会怎样切成块和数据段，因此无法显示图。可在上方输入数据段。</translation>
    </message>
    <message>
        <source>The data has %1 chunks, too many for a map of this size. One can be typed above.</source>
        <translation>数据有 %1 个数据段，对这么大的图来说太多了。可在上方输入一个。</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s)</source>
        <translation>
            <numerusform>%n 个块</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chunk(s)</source>
        <translation>
            <numerusform>%n 个数据段</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 The first epoch starts at %2 and ends with what comes before it.</source>
        <translation>%1 第一轮从%2开始，最后训练它之前的部分。</translation>
    </message>
    <message>
        <source>Choose none</source>
        <translation>不选择</translation>
    </message>
    <message>
        <source>Without a chunk the first epoch begins wherever its order begins.</source>
        <translation>不选择数据段时，第一轮从其顺序的开头开始。</translation>
    </message>
    <message>
        <source>%1 No chunk is chosen. Click the one to start at, or move there with the arrow keys.</source>
        <translation>%1 尚未选择数据段。点击要从哪个开始，或用方向键移动到那里。</translation>
    </message>
</context>
<context>
    <name>furrow::TaskRunner</name>
    <message>
        <source>%1 could not be run: %2.</source>
        <translation>无法运行 %1：%2。</translation>
    </message>
</context>
<context>
    <name>furrow::TokenView</name>
    <message numerus="yes">
        <source>%n tokens: %1</source>
        <translation>
            <numerusform>%n 个词元：%1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>furrow::TorchDialog</name>
    <message>
        <source>Install libtorch</source>
        <translation>安装 libtorch</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Training uses libtorch, which is not part of Furrow. One that is on this computer can be used as it is; otherwise it is downloaded from the package index that pip is configured for, and compared with a hash that Furrow knows.</source>
        <translation>训练用 libtorch 进行计算，而 libtorch 不是 Furrow 的一部分。可以直接使用本机上已有的；否则从 pip 配置的软件包索引下载，并与 Furrow 已知的哈希比较。</translation>
    </message>
    <message>
        <source>With CUDA&apos;s libraries, for GPUs of NVIDIA</source>
        <translation>包含 CUDA 的库，用于 NVIDIA 的 GPU</translation>
    </message>
    <message>
        <source>Look on this computer</source>
        <translation>在本机上查找</translation>
    </message>
    <message>
        <source>From a folder of wheels…</source>
        <translation>使用 wheel 文件夹…</translation>
    </message>
    <message>
        <source>Folder of wheels</source>
        <translation>wheel 文件夹</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>正在处理…</translation>
    </message>
    <message>
        <source>Fetching %1 (%2)</source>
        <translation>正在下载 %1（%2）</translation>
    </message>
    <message>
        <source>Unpacking %1 (%2)</source>
        <translation>正在解包 %1（%2）</translation>
    </message>
    <message>
        <source>libtorch is there and works.</source>
        <translation>libtorch 已就绪，可以使用。</translation>
    </message>
</context>
<context>
    <name>furrow::UntilRead</name>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
</context>
<context>
    <name>furrow::WeightsChoice</name>
    <message>
        <source>merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>replica %1</source>
        <translation>副本 %1</translation>
    </message>
    <message>
        <source>, eval loss %1</source>
        <translation>，评估损失 %1</translation>
    </message>
    <message>
        <source>%1 of %2, step %3%4</source>
        <translation>%1，%2，第 %3 步%4</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>the newest: %1</source>
        <translation>最新：%1</translation>
    </message>
    <message>
        <source>the newest</source>
        <translation>最新的</translation>
    </message>
    <message>
        <source>%1, the newest</source>
        <translation>%1，最新</translation>
    </message>
</context>
<context>
    <name>furrow::WelcomePage</name>
    <message>
        <source>New run</source>
        <translation>新建运行</translation>
    </message>
    <message>
        <source>Open run folder…</source>
        <translation>打开运行文件夹…</translation>
    </message>
    <message>
        <source>Select a run in the library, or start a new one in %1.</source>
        <translation>在库中选择一个运行，或在 %1 中新建一个。</translation>
    </message>
    <message>
        <source>Start demonstration run</source>
        <translation>开始演示运行</translation>
    </message>
    <message>
        <source>No runs in this workspace yet. The demonstration trains a small text that comes with Furrow on the CPU; the loss falls within seconds.</source>
        <translation>此工作区还没有运行。演示在 CPU 上训练 Furrow 自带的一段短文本；损失在几秒内下降。</translation>
    </message>
</context>
<context>
    <name>furrow::WordsDialog</name>
    <message>
        <source>One text of the data set.</source>
        <translation>数据集中的一段文本。</translation>
    </message>
    <message>
        <source>The samples that one worker claims and trains at a time. Its size does not change GPU memory: batch size times context does.</source>
        <translation>一个工作进程一次领取并训练的样本。其大小不影响显存；影响显存的是批大小乘以上下文。</translation>
    </message>
    <message>
        <source>Consecutive samples that are fetched, cleaned and cut into tokens as one unit. A block is made of chunks.</source>
        <translation>作为一个单位获取、清洗并切成词元的连续样本。块由数据段组成。</translation>
    </message>
    <message>
        <source>The windows of tokens in one micro-step of one worker. It decides how much memory a step takes.</source>
        <translation>一个工作进程一个微步中的词元窗口。它决定一步占用多少内存。</translation>
    </message>
    <message>
        <source>How many tokens the model sees at once.</source>
        <translation>模型一次能看到多少词元。</translation>
    </message>
    <message>
        <source>Every chunk of every block committed once, or named as excluded or poisoned.</source>
        <translation>每个块的每个数据段提交一次，或列为已排除或有毒。</translation>
    </message>
    <message>
        <source>One training job with its frozen configuration. It lives in one folder.</source>
        <translation>一个配置已冻结的训练任务。它位于一个文件夹中。</translation>
    </message>
    <message>
        <source>One stretch of a run from start or resume until stop, crash or end.</source>
        <translation>运行从开始或恢复到停止、崩溃或结束的一段。</translation>
    </message>
    <message>
        <source>One process on one device that claims chunks and trains them.</source>
        <translation>一个设备上领取并训练数据段的进程。</translation>
    </message>
    <message>
        <source>The chunk is in a checkpoint. Trained means: in the weights of a worker, not saved yet; a crash costs that work.</source>
        <translation>数据段已在检查点中。“已训练”指在某工作进程的权重中但尚未保存；崩溃会损失这部分工作。</translation>
    </message>
    <message>
        <source>The chunk failed too often. It keeps the epoch open until it is accepted or tried again.</source>
        <translation>该数据段失败次数过多。在被接受或重试之前，本轮不会结束。</translation>
    </message>
    <message>
        <source>No process of the run is alive and none recorded why it ended: the computer stopped or the processes were killed. Resume shows what would be trained again before it does anything.</source>
        <translation>运行没有存活的进程，也没有记录结束原因：计算机停机，或进程被强制结束。“恢复”会先显示哪些内容将重新训练，然后才执行。</translation>
    </message>
    <message>
        <source>The weights of the workers become one set of weights.</source>
        <translation>各工作进程的权重合并为一组权重。</translation>
    </message>
</context>
<context>
    <name>furrow::WorkerCard</name>
    <message>
        <source>Worker %1</source>
        <translation>工作进程 %1</translation>
    </message>
    <message>
        <source>How far the chunk is</source>
        <translation>数据段的进度</translation>
    </message>
    <message>
        <source>%1, process %2</source>
        <translation>%1，进程 %2</translation>
    </message>
    <message numerus="yes">
        <source>, %n restart(s)</source>
        <translation>
            <numerusform>，重启 %n 次</numerusform>
        </translation>
    </message>
    <message>
        <source>not alive</source>
        <translation>未存活</translation>
    </message>
    <message>
        <source>Worker %1: %2, loss %3, %4</source>
        <translation>工作进程 %1：%2，损失 %3，%4</translation>
    </message>
    <message>
        <source>%1 steps</source>
        <translation>%1 步</translation>
    </message>
    <message>
        <source>At most %1 of memory, %2 times the estimate</source>
        <translation>内存最多 %1，为估计的 %2 倍</translation>
    </message>
    <message>
        <source>1 step</source>
        <translation>1 步</translation>
    </message>
</context>
<context>
    <name>furrow::WorkersPage</name>
    <message>
        <source>Worker processes</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Worker processes of all attempts</source>
        <translation>所有尝试的工作进程</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>A pinned checkpoint is never removed by the keep policy</source>
        <translation>固定的检查点不会被保留策略删除</translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Write text…</source>
        <translation>生成文本…</translation>
    </message>
    <message>
        <source>New run from it…</source>
        <translation>以此新建运行…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消固定</translation>
    </message>
    <message>
        <source>Best: checkpoint %1, eval loss %2</source>
        <translation>最佳：检查点 %1，评估损失 %2</translation>
    </message>
    <message>
        <source>Verify all</source>
        <translation>全部核验</translation>
    </message>
    <message>
        <source>Reads every file of the checkpoints again and compares it with what was recorded when it was written</source>
        <translation>重新读取检查点的每个文件，并与写入时的记录比较</translation>
    </message>
    <message>
        <source>Stop checking</source>
        <translation>停止检查</translation>
    </message>
    <message>
        <source>Checking the files, %1 of %2…</source>
        <translation>正在检查文件，第 %1 个，共 %2 个…</translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) verified: every file is as it was written.</source>
        <translation>
            <numerusform>已核验 %n 个检查点：每个文件都与写入时一致。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n checkpoint(s) not whole. %1</source>
        <translation>
            <numerusform>%n 个检查点不完整。%1</numerusform>
        </translation>
    </message>
    <message>
        <source>checkpoint %1, all replicas merged</source>
        <translation>检查点 %1，所有副本已合并</translation>
    </message>
    <message>
        <source>checkpoint %1, replica %2</source>
        <translation>检查点 %1，副本 %2</translation>
    </message>
    <message>
        <source>Evaluating %1…</source>
        <translation>正在评估%1…</translation>
    </message>
    <message>
        <source>%1 was not evaluated. %2</source>
        <translation>%1未被评估。%2</translation>
    </message>
    <message>
        <source>The program reported no loss.</source>
        <translation>程序没有给出损失。</translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, perplexity %5, on %6.</source>
        <translation>%1 评估：%2，第 %3 步：损失 %4，困惑度 %5，使用%6。</translation>
    </message>
    <message>
        <source>all held-out text (%1 tokens)</source>
        <translation>全部留出文本（%1 个词元）</translation>
    </message>
    <message>
        <source>%1 tokens of %2</source>
        <translation>%2 的 %1 个词元</translation>
    </message>
    <message>
        <source>%1 of this text was also trained on.</source>
        <translation>其中 %1 的文本也被训练过。</translation>
    </message>
    <message>
        <source>As last read, at %1.</source>
        <translation>为上次于 %1 读取时的情况。</translation>
    </message>
    <message>
        <source>These are not the newest weights of the run.</source>
        <translation>这些不是此运行最新的权重。</translation>
    </message>
    <message>
        <source>They are from before the end of epoch %1.</source>
        <translation>它们来自第 %1 轮结束之前。</translation>
    </message>
    <message>
        <source>As it is now, not as it was at %1. Ages are those of then.</source>
        <translation>这是现在的状态，不是 %1 时的状态。距今时间按那时计算。</translation>
    </message>
    <message>
        <source>Evaluated at %1: %2, step %3: loss %4, chosen answer preferred in %5, on %6.</source>
        <translation>%1 评估：%2，第 %3 步：损失 %4，偏好被选中回答 %5，使用%6。</translation>
    </message>
    <message>
        <source>all held-out pairs (%1)</source>
        <translation>全部留出的回答对（%1）</translation>
    </message>
    <message>
        <source>%1 pairs of %2</source>
        <translation>%2 的 %1 对回答</translation>
    </message>
</context>
</TS>
